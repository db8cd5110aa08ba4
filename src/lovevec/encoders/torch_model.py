"""`love.to_torch()` and `LOVE.from_torch(module)`; torch is imported when they are called (torch_love.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from lovevec.errors import LovevecError, MissingExtra, shown
from lovevec.model.folder import ModelParts

if TYPE_CHECKING:
    from lovevec.encoders.torch_love import ReadsWords, TorchLOVE

Model = TypeVar("Model", bound="TorchModel")


class TorchModel:
    """The way to torch and back, for a model that has `parts` and a `card`."""

    def __init__(self, parts: ModelParts, card: str, engine: Any, *, spelling_only: bool) -> None:
        raise NotImplementedError

    def to_torch(self: ReadsWords) -> TorchLOVE:
        """The model as torch's nn.Module (encoders/torch_love.py): words to vectors, with weights of its own that
        learn; this LOVE stays as it is."""
        try:
            from lovevec.encoders.torch_love import TorchLOVE
        except ImportError:
            raise MissingExtra("torch", "torch") from None

        return TorchLOVE(self)

    @classmethod
    def from_torch(cls: type[Model], module: TorchLOVE, engine: Any = "auto") -> Model:
        """The model that a module of `to_torch` has become. Weights that changed are float32, the known words' rows
        float16: `save(folder, precision="int8", rows="int4")` makes them small again."""
        if not hasattr(module, "model_card"):
            raise LovevecError(f"module is {shown(module)}: must be what `to_torch` gave, a TorchLOVE")
        return cls(module.parts(), module.model_card(), engine, spelling_only=module.spelling_only)
