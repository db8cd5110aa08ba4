"""A downstream model whose weights, and whatever it draws later, are decided by a seed alone."""

from __future__ import annotations

import torch
from torch import nn

from lovevec.encoders.shared import Dropout, initialise
from lovevec.evaluate.nets.char_cnn import CharCNN


def seeded(model: nn.Module, seed: int, device: torch.device) -> None:
    """Fill the weights on the CPU, so that all devices begin alike, move the model, and hand out a generator."""
    initialise(model, torch.Generator().manual_seed(seed))
    model.to(device)
    generator = torch.Generator(device).manual_seed(seed)
    for module in model.modules():
        if isinstance(module, Dropout | CharCNN):
            module.generator = generator
