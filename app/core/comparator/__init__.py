"""Do two result sets say the same thing?"""
