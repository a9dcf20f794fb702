"""Do several SQL statements mean the same, and if not, where do they part?"""
