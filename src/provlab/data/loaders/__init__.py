"""The loaders of data sets, by name: the folder is the registry, see `provlab.data.loader`."""
