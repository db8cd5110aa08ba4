"""Writers of vector files, one file a format."""
