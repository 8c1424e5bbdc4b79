"""Certificates: what a selection or a compression preserved, measured beside what its theorem promises."""

from provsel.certificates.compression import certify_compression
from provsel.certificates.selection import Certificate, certify

__all__ = ["Certificate", "certify", "certify_compression"]
