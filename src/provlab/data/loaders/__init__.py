"""Loaders of data sets by name: this folder is their registry, see `provlab.data.loader`."""
