"""The networks that downstream tasks train on frozen vectors."""
