"""Fine-tuning of BERT-like models, plain and with LOVE inside: on clean text, tested on damaged text.

>>> transformer = Transformer("bert-base-uncased", love="love-bert", strategy="replace")
>>> trials = Trials(transformer, TextTask(texts("SST2", data_folder())), [Noise("ocr", 0.7)], FinetuneSettings())
>>> trials.run(rate=5e-5, seed=0)["test"]             # {"ocr 70 %": …}
"""

from lovevec_lab.evaluate.finetune.loop import FinetuneSettings
from lovevec_lab.evaluate.finetune.tasks import TagTask, TextTask
from lovevec_lab.evaluate.finetune.transformer import Transformer
from lovevec_lab.evaluate.finetune.trials import Trials

__all__ = ["FinetuneSettings", "TagTask", "TextTask", "Transformer", "Trials"]
