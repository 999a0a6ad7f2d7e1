"""Notices by e-mail and webhook: what there is to say, who gets it, and its delivery.

registry    the kinds; each app registers its own in a module named `notice_kinds`
sweeping    asks each kind what there is, and stores new notices with their deliveries
choices     what people and campaigns choose to get
sending     takes deliveries that are due, sends them, and tries again later
"""
