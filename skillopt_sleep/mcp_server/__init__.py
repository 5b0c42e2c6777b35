"""The MCP server: the use-cases as tools, for any client that speaks the protocol.

    takes.py     what each tool takes: fields of the request models, and nothing an agent may not decide
    tools.py     the tools, one row each: name, words, models, hints, use-case
    consent.py   asking the person, in both eras of the protocol
    pages.py     results that fit a client's window
    server.py    the handlers that the SDK calls
    stdio.py     over standard input and output;  http.py  over HTTP, on this machine only
    schemas.py   writes `tools.json`, from which tools are listed without building a single model

Importing this package costs nothing; the SDK is loaded where it is served.
"""
