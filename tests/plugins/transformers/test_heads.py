"""Models with a head on top, collators, Trainer and pipelines: the same calls as ever."""

from __future__ import annotations

import logging

import pytest
import torch
import transformers
from tests.transformer_factories import NEW, WORDS, load_small, mixed_texts
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForMultipleChoice,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    DataCollatorForLanguageModeling,
    DataCollatorForMultipleChoice,
    DataCollatorForTokenClassification,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
    pipeline,
)

from lovevec.plugins.transformers import robustify

HEADS = (
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
)


@pytest.fixture(scope="module")
def headed(small_folder, love):
    """(Auto class, kind) -> plain model, its tokenizer, robust model, its tokenizer."""

    def make(auto, kind="bert", **options):
        torch.manual_seed(0)
        plain = load_small(small_folder(kind), auto, **options)
        return (*plain, *robustify(plain, love, space="direct"))

    return make


@pytest.mark.parametrize("kind", ["bert", "distilbert", "roberta", "albert"])
@pytest.mark.parametrize("auto", HEADS, ids=lambda auto: auto.__name__)
def test_heads_on_clean_text_to_the_bit_and_on_noisy_text_by_inputs_embeds(auto, kind, headed):
    plain, plain_tokenizer, robust, tokenizer = headed(auto, kind)
    clean, noisy = [f". {text}" for text in mixed_texts(4, broken=0)], [f". {NEW[0]} {WORDS[0]} {NEW[1]}"]
    with torch.no_grad():
        expected = plain(**plain_tokenizer(clean, padding=True, return_tensors="pt"))
        found = robust(**tokenizer(clean, padding=True, return_tensors="pt"))
        assert type(found) is type(expected)
        assert all(torch.equal(found[name], expected[name]) for name in expected)
        batch = tokenizer(noisy, return_tensors="pt")
        rows = plain.get_input_embeddings()(batch["input_ids"])
        rows[batch["love_words"].any(-1)] = torch.from_numpy(robust.robust_embeddings.imputer([NEW[0], NEW[1]]))
        expected = plain(inputs_embeds=rows, attention_mask=batch["attention_mask"])
        for name, value in robust(**batch).items():
            torch.testing.assert_close(value, expected[name], rtol=1e-4, atol=1e-5)


def test_multiple_choice_through_its_collator(headed):
    *_, robust, tokenizer = headed(AutoModelForMultipleChoice)
    prompts, choices = mixed_texts(3, broken=0.3), mixed_texts(6, broken=0.3, seed=1)
    features = []
    for number, prompt in enumerate(prompts):
        encoded = tokenizer([prompt] * 2, choices[2 * number : 2 * number + 2])
        features.append({**encoded, "label": number % 2})
    batch = DataCollatorForMultipleChoice(tokenizer)(features)
    with torch.no_grad():
        logits = robust(**batch).logits
        for number, prompt in enumerate(prompts):
            alone = tokenizer([prompt] * 2, choices[2 * number : 2 * number + 2], padding=True, return_tensors="pt")
            one = robust(**{name: value[None] for name, value in alone.items()}).logits
            torch.testing.assert_close(one[0], logits[number])
    assert (robust(**batch).loss > 0).item()


def test_a_masked_word_does_not_shine_through(headed):
    _, _, robust, tokenizer = headed(AutoModelForMaskedLM)
    collate = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.5, seed=3)
    encoded = [tokenizer(text, return_special_tokens_mask=True) for text in mixed_texts(8, broken=0.8)]
    batch = collate(encoded)
    masked = batch["input_ids"] == tokenizer.mask_token_id
    assert (masked & batch["love_words"].any(-1)).any()
    hidden = {**batch, "love_words": batch["love_words"] * ~masked[..., None]}
    with torch.no_grad():
        assert torch.equal(robust(**batch).logits, robust(**hidden).logits)


def test_word_labels_stay_aligned(headed):
    _, _, robust, tokenizer = headed(AutoModelForTokenClassification, num_labels=3)
    texts = [text.split() for text in mixed_texts(5, broken=0.5)]
    features = []
    for words in texts:
        encoded = tokenizer(words, is_split_into_words=True)
        numbers = encoded.word_ids()
        assert numbers == [None, *range(len(words)), None]  # one position each
        features.append({**encoded, "labels": [-100 if n is None else n % 3 for n in numbers]})
    batch = DataCollatorForTokenClassification(tokenizer)(features)
    assert batch["labels"].shape == batch["input_ids"].shape == batch["love_words"].shape[:2]
    assert torch.equal(batch["labels"] >= 0, (batch["attention_mask"] > 0) & (batch["labels"] >= 0))
    assert robust(**batch).loss.item() > 0


def test_a_trainer_trains_saves_and_goes_on(headed, tmp_path):
    _, _, robust, tokenizer = headed(AutoModelForSequenceClassification, num_labels=2)
    texts = [(NEW[n % 20] if n % 2 else WORDS[n % 20]) + f" {WORDS[n % 7]}" for n in range(64)]
    data = [{**tokenizer(text), "labels": n % 2, "unused": text} for n, text in enumerate(texts)]
    settings = TrainingArguments(
        output_dir=str(tmp_path),
        max_steps=12,
        per_device_train_batch_size=16,
        learning_rate=0.02,
        save_steps=6,
        save_total_limit=2,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        logging_steps=4,
    )

    def trainer(model):
        return Trainer(model, settings, DataCollatorWithPadding(tokenizer), data, data, processing_class=tokenizer)

    before = robust.get_input_embeddings().weight.detach().clone()
    one = trainer(robust)
    one.train()
    losses = [entry["loss"] for entry in one.state.log_history if "loss" in entry]
    assert losses[-1] < losses[0]
    assert not torch.equal(robust.get_input_embeddings().weight, before)
    loaded = AutoModelForSequenceClassification.from_pretrained(tmp_path / "checkpoint-12")
    batch = tokenizer(texts[:6], padding=True, return_tensors="pt")
    with torch.no_grad():
        assert torch.equal(loaded.eval()(**batch).logits, robust.eval()(**batch).logits)
    other = trainer(AutoModelForSequenceClassification.from_pretrained(tmp_path / "checkpoint-6"))
    other.train(resume_from_checkpoint=str(tmp_path / "checkpoint-6"))
    assert other.state.global_step == 12
    assert other.predict(data[:3]).predictions.shape == (3, 2)


@pytest.fixture
def said():
    """What transformers warns of."""
    records: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("transformers")
    logger.addHandler(handler)
    yield records
    logger.removeHandler(handler)


def test_pipelines(headed, said):
    text = f". {WORDS[0]} {NEW[0]} {WORDS[1]}"
    at = text.index(NEW[0])
    *_, model, tokenizer = headed(AutoModelForSequenceClassification, num_labels=2)
    said.clear()
    classify = pipeline("text-classification", model=model, tokenizer=tokenizer)
    with torch.no_grad():
        scores = model(**tokenizer(text, return_tensors="pt")).logits.softmax(-1)[0]
    assert classify(text)[0]["score"] == pytest.approx(scores.max().item(), abs=1e-6)
    assert len(classify([text, "a", text * 3], batch_size=3)) == 3

    *_, model, tokenizer = headed(AutoModelForTokenClassification, num_labels=4)
    for how in ("none", "simple", "first", "average", "max"):
        tagged = pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy=how)(text)
        assert all(one["word"].replace(" ", "") in text.replace(" ", "") for one in tagged)
        if how == "none":
            assert {one["word"]: (one["start"], one["end"]) for one in tagged}[NEW[0]] == (at, at + len(NEW[0]))

    *_, model, tokenizer = headed(AutoModelForMaskedLM)
    filled = pipeline("fill-mask", model=model, tokenizer=tokenizer)(f"{NEW[0]} [MASK] {WORDS[0]}")
    assert len(filled) == 5

    *_, model, tokenizer = headed(transformers.AutoModel)
    features = pipeline("feature-extraction", model=model, tokenizer=tokenizer)(text)
    with torch.no_grad():
        expected = model(**tokenizer(text, return_tensors="pt")).last_hidden_state
    torch.testing.assert_close(torch.tensor(features), expected)
    assert not [line for line in said if "not supported" in line or "love" in line.lower()], said
