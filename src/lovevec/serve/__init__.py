"""Vectors over HTTP: `lovevec serve`. Programs speak OpenAI's embeddings to it, people open its page.

models.py     what is served: models and attached tables by name, and what they answer
indexes.py    indexes of texts by name, and what they answer
batches.py    requests that come together are computed together
schema.py     what may be asked, and what is answered (OpenAPI is made of it)
service.py    models behind limits, batches and counts
app.py        the endpoints
gate.py       what every request passes: size, key, room, headers, metrics, one line of log
connection.py a client's connection: how long it may take, and how much it may hold
body.py       the JSON of a request: how many values it may have
metrics.py    counts for Prometheus, which workers share
logs.py       what is said on stderr, for people and for programs
pages.py      the page at /, and /docs: our OpenAPI as a page that needs nothing from elsewhere
processes.py  sockets, worker processes that share one model's memory, signals
page/         the files of the page at /
web.py        the page with a model inside, without a server (`lovevec export --web`)
"""
