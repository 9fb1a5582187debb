"""Verifiers: one file each, named for what passing means; pure but for `probe`.

`registry` finds them by name, lazily; `contract` says what one is.
"""
