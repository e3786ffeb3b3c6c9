"""The dispatch protocol and the attempt fence as small models, checked exhaustively. See README.md."""
