"""lovevec_lab: what measures lovevec. Rivals (`methods`), tasks (`evaluate`), the paper's tables and figures
(`reproduce`). It imports the library; the library never imports it."""

__version__ = "0.1.0"
