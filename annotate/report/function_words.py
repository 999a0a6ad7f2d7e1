"""English function words; all other words count as content words.

Van Miltenburg et al. (2018) take nouns, verbs, adjectives and adverbs by a part-of-speech tagger.
A closed list needs no tagger; it has articles, pronouns, prepositions, conjunctions, auxiliary
verbs and number words.
"""

_WORDS = """
a an the this that these those some any no each every either neither both all half such i me my
mine myself you your yours yourself he him his himself she her hers herself it its itself we us
our ours ourselves they them their theirs themselves one ones someone something somebody anyone
anything everyone everything nobody nothing none other others another who whom whose which what
whatever where when why how there here about above across after against along alongside amid among
amongst around as at atop before behind below beneath beside besides between beyond by despite
down during except for from in inside into like near next of off on onto opposite out outside over
past per through throughout to toward towards under underneath until up upon via with within
without and but or nor so yet if because while whereas although though since unless than then be
am is are was were been being isn't aren't wasn't weren't have has had having do does did doing
done don't doesn't didn't can cannot can't could will would shall should may might must not n't 's
it's that's there's two three four five six seven eight nine ten eleven twelve first second third
"""
FUNCTION_WORDS = frozenset(_WORDS.split())
