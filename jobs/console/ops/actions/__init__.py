"""What the forms of the pages do: the verbs of the engine, noted as the admin notes them."""
