"""Fine-tuning of BERT-like encoders, plain and with LOVE inside: on clean text, tested on damaged text.

>>> encoder = Encoder("bert-base-uncased", love="love-bert", strategy="replace")
>>> trials = Trials(encoder, TextTask(texts("SST2", data_folder())), [Noise("ocr", 0.7)], FinetuneSettings())
>>> trials.run(rate=5e-5, seed=0)["test"]             # {"ocr 70 %": …}
"""

from lovevec.evaluate.finetune.choice import best_by_seed
from lovevec.evaluate.finetune.encoder import Encoder
from lovevec.evaluate.finetune.settings import FinetuneSettings
from lovevec.evaluate.finetune.tags import TagTask
from lovevec.evaluate.finetune.texts import TextTask
from lovevec.evaluate.finetune.trials import Trials

__all__ = ["Encoder", "FinetuneSettings", "TagTask", "TextTask", "Trials", "best_by_seed"]
