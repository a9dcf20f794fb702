"""Five agents, one question: asking a model, and asking again, until the statements agree or the rounds are over."""
