"""The tables and figures of the paper, each as one experiment."""
