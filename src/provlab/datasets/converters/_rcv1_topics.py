"""The topics of RCV1-v2 that its five public samples have, and which stands above which."""

_CODES = """
C11 C12 C13 C14 C15 C151 C1511 C152 C16 C17 C171 C172 C173 C174 C18 C181 C182 C183 C21 C22 C23 C24 C31 C311 C312
C313 C32 C33 C331 C34 C41 C411 C42 CCAT E11 E12 E121 E13 E131 E132 E14 E141 E142 E143 E21 E211 E212 E31 E311
E312 E313 E41 E411 E51 E511 E512 E513 E61 E71 ECAT G15 G151 G152 G153 G154 G155 G156 G157 G158 G159 GCAT GCRIM
GDEF GDIP GDIS GENT GENV GFAS GHEA GJOB GMIL GOBIT GODD GPOL GPRO GREL GSCI GSPO GTOUR GVIO GVOTE GWEA GWELF M11
M12 M13 M131 M132 M14 M141 M142
"""
CODES = tuple(_CODES.split())
"""The first 101 of the 103 topics in alphabetical order: M143 and MCAT fell off the end of the samples' columns."""


def parent(code: str) -> str | None:
    """Return the topic that every document of a topic has as well; None at the top, and for the one that is lost."""
    if code.endswith("CAT"):
        return None
    above = code[:-1] if code[1:].isdigit() and len(code) > 3 else f"{code[0]}CAT"
    return above if above in CODES else None
