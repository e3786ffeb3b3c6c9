"""The parts that both APIs, of tenants and of operators, are made of."""
