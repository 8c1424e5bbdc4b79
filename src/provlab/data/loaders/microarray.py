"""Gene expression data, and one methylation data set, from the R package datamicroarray."""

from pathlib import Path

import numpy as np

from provlab.data.dataset import Dataset, make_dataset
from provlab.data.r_data import read_r_data

VERSION = 1

_CITATIONS = {
    "alon": "Alon et al. (1999), PNAS 96; normal and tumour tissue of the colon",
    "borovecki": "Borovecki et al. (2005), PNAS 102; blood of healthy people and of patients with Huntington's disease",
    "chowdary": "Chowdary et al. (2006), Journal of Molecular Diagnostics 8; breast and colon tumours",
    "christensen": "Christensen et al. (2009), PLoS Genetics 5; methylation of blood, placenta and other tissue",
    "golub": "Golub et al. (1999), Science 286; leukaemia, ALL and AML",
    "gordon": "Gordon et al. (2002), Cancer Research 62; adenocarcinoma and mesothelioma of the lung",
    "gravier": "Gravier et al. (2010), Genes, Chromosomes and Cancer 49; good and poor outcome of breast cancer",
    "nakayama": "Nakayama et al. (2007), Modern Pathology 20; ten kinds of soft tissue sarcoma",
    "sorlie": "Sorlie et al. (2001), PNAS 98; five kinds of breast cancer",
    "su": "Su et al. (2002), PNAS 99; four kinds of tissue",
    "west": "West et al. (2001), PNAS 98; breast cancer without and with affected lymph nodes",
}
CHOICES = {"set": tuple(_CITATIONS)}


def load(paths: list[Path], digest: str, *, set: str = "alon") -> Dataset:
    """Load one set as published in the package; nothing is scaled.

    Parameters
    ----------
    set : str, default="alon"
        "alon": 62 samples of 2,000 genes, "borovecki": 31 of 22,283, "chowdary": 104 of
        22,283, "christensen": 217 of 1,413 sites, in three classes, "golub": 72 of
        7,129, "gordon": 181 of 12,533, "gravier": 168 of 2,905, "nakayama": 105 of
        22,283, in ten classes, "sorlie": 85 of 456, in five, "su": 102 of 5,565, in
        four, "west": 49 of 7,129. The samples of alon are those of `colon`, and the
        samples of golub those of `leukemia` and `allaml`.

    Returns
    -------
    Dataset
        Dense X; the feature names are those of the file if they are distinct, otherwise
        "1", "2",
        ... . Of two levels in the file, the first gets the label -1 and the second +1; more levels
        get the labels 1, 2, ... .
    """
    content = read_r_data(paths[0])[set]
    genes = content["x"]
    if "dim" in genes.attributes:  # a matrix
        X = genes.values.reshape(genes.attributes["dim"].values, order="F")
        names = (
            genes.attributes["dimnames"].values[1].values
            if "dimnames" in genes.attributes
            else []
        )
    else:  # a data frame
        X = np.column_stack([column.values for column in genes.values])
        names = genes.attributes["names"].values
    has_distinct_names = len({*names}) == X.shape[1]
    labels = content["y"].values
    if len(content["y"].attributes["levels"].values) == 2:
        labels = 2 * labels - 3
    source = f"{_CITATIONS[set]}; SHA-256 {digest}"
    return make_dataset(
        X, labels, names if has_distinct_names else None, name=set, source=source
    )


def files(*, set: str) -> list[str]:
    """Return the file that `load` reads."""
    return [f"microarray/{set}.RData"]
