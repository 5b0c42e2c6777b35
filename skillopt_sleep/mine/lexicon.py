"""Word lists of the heuristic miner. Data only: everything a reader may want to extend for a language stands here.

Lists are in the case-folded form that `wording.fold` produces. They cover English well and German, Spanish, French,
Portuguese, Russian, Chinese and Japanese in outline: a missing word costs a missed correction, never a wrong one.
"""

from __future__ import annotations

from typing import Final

STOP_WORDS: Final = frozenset(
    # English
    """a an the this that these those my your our their its his her me i you we us it them he she they is
    are was were be been being am do does did done doing have has had having will would shall should can
    could may might must and or but so than then there here some any each every all both also too very
    really quite only own same such please kindly just quickly again now hi hello hey ok okay thanks
    thank new latest current following below above attached one lets let's don doesn didn isn wasn aren
    won need want like dear well anyway once more another time today tonight tomorrow asap""".split()
    # German, Spanish, French, Portuguese
    + """der die das den dem des ein eine einen einem einer und oder bitte mir uns mein meine unser unsere
    neue neuen neues kannst könntest du sie mal noch einmal el la los las un una unos unas y o por favor
    nuestro nuestra mi tu su nuevo nueva puedes podrías me nos le les une des et ou mon ma mes notre nos
    te plaît peux tu pourrais vous nouveau nouvelle il svp os as um uma uns umas e ou meu minha nosso
    nossa novo nova você pode poderia""".split()
    # Russian, and single signs of Chinese and Japanese that carry grammar only
    + """и или пожалуйста мне нам мой моя наш наша новый новая новой нового можешь можете ещё еще раз""".split()
    + list("的了吗吧呢啊请一个份篇条把新为给对")
)
"""Words that do not tell one request from another. Words of `BOUNDARIES` count as stop words too."""

BOUNDARIES: Final = frozenset(
    """for about on to from in into with without by at that which who whom whose whether if how why when
    where because using based regarding concerning as after before between against via per since so
    where until while during through under over für über zu zum zur mit aus im am auf ob dass wie weil
    wenn para sobre con en que si cómo pour sur avec dans à au aux qui quoi comment com em ao se como
    для про о об на в к по с что как если""".split()
)
"""Words that end the head of a request ("write the release notes | for the login form")."""

WEAK_BOUNDARIES: Final = frozenset(["of", "de", "del", "du", "d", "von", "vom", "do", "da", "dos", "das"])
"""End a head only where no stronger boundary follows: they also join compound nouns ("message de commit")."""

PARTICLES: Final = frozenset(["into", "up", "out", "off", "over", "down", "in", "on"])
"""Belong to the verb when they stand right after it ("look into", "set up")."""

KEPT_BOUNDARIES: Final = frozenset(["without", "between", "before", "after"])
"""Boundaries that change what is asked, so that they stay among the content words."""

PINNING: Final = frozenset(
    [
        "not",
        "no",
        "never",
        "without",
        "only",
        "ohne",
        "nicht",
        "sin",
        "sans",
        "pas",
        "sem",
        "não",
        "без",
        "не",
        "不",
        "没",
    ]
)
"""Words whose presence makes another request, however similar the rest is."""

SYNONYMS: Final[dict[str, str]] = {
    **dict.fromkeys(
        ["draft", "compose", "create", "prepare", "produce", "generate", "craft", "author", "make"], "write"
    ),
    **dict.fromkeys(["summarize", "summarise", "sum", "recap", "condense"], "summarize"),
    **dict.fromkeys(["analyse", "analyze"], "analyze"),
    **dict.fromkeys(["schreib", "schreibe", "schreiben", "verfasse", "erstelle"], "schreibe"),
    **dict.fromkeys(["escribe", "escribir", "redacta", "crea"], "escribe"),
    **dict.fromkeys(["écris", "écrire", "écrivez", "rédige", "rédigez"], "écris"),
    **dict.fromkeys(["escreva", "escrever", "redija", "crie"], "escreva"),
    **dict.fromkeys(["напиши", "напишите", "составь", "подготовь"], "напиши"),
}
"""Verbs that ask for the same kind of thing -> the form that stands for them."""

CJK_SYNONYMS: Final[dict[str, str]] = {
    **dict.fromkeys(("撰写", "起草", "编写", "生成", "创建"), "写"),
    "概括": "总结",
    "作成": "書",
}
"""The same for languages without spaces, where a verb cannot be told from its neighbours before it is known."""

REQUEST_VERBS: Final = (
    frozenset(SYNONYMS.values())
    | frozenset(SYNONYMS)
    | frozenset(
        """write explain translate list describe compare review answer advise analyze plan outline brainstorm
    propose suggest recommend rewrite convert calculate compute classify extract find tell give show
    design build implement fix refactor debug draw estimate evaluate check research reply respond
    prioritise prioritize rank name help look run update übersetze erkläre erstelle fasse vergleiche
    traduce explica resume compara traduis explique résume compare traduza explique resuma переведи
    объясни сравни""".split()
    )
)

EDIT_VERBS: Final = frozenset(
    """add include mention contain start begin open end finish close keep make use call limit shorten cut
    trim put insert append quote state say remove drop stick stay""".split()
)
"""Verbs that, at the start of a follow-up, speak of the reply that is already there."""

FILLER_PHRASES: Final = (
    r"\b(?:can|could|would|will) you(?: please)?(?: also| now| quickly)?\b",
    r"\b(?:i'd|i would) (?:like|love)(?: you)?(?: to)?\b",
    r"\bi (?:need|want)(?: you)?(?: to)?\b",
    r"\b(?:go ahead and|be so kind as to|i was wondering if you could|do me a favou?r and|let's|let us)\b",
    r"\bfor (?:me|us)\b",
    r"\b(?:one more time|once again|once more|right now|thank you|many thanks|if you can|if possible|when you can)\b",
    r"\b(?:s'il (?:te|vous) pla[iî]t|peux-tu|pourrais-tu|pouvez-vous|por favor|kannst du|könntest du|können sie)\b",
    r"(?:请问|麻烦你?|帮我|帮忙|给我|可以|能不能|能否|你能|一下|谢谢)",
    r"(?:をお願い(?:します|いたします)?|お願い(?:します|いたします)?|(?:して)?(?:ください|下さい|くれますか"
    r"|もらえますか|いただけますか)|ありがとう(?:ございます)?)",
)
"""Regular expressions of politeness that is taken out before anything is compared."""

CHATTER: Final = frozenset(
    (
        "continue|go on|go ahead|keep going|carry on|proceed|yes|yep|yeah|yup|sure|ok|okay|no|nope|y|n|done|stop|"
        "wait|hi|hello|hey|thanks|thank you|thx|ty|ok thanks|ok thank you|okay thanks|yes please|no thanks|"
        "try again|retry|again|once more|do it|do that|please do|please continue|yes go ahead|yes do it|"
        "yes continue|sounds good|looks good|lgtm|next|test|ping|exit|quit|never mind|nevermind|forget it|"
        "no problem|no worries|got it|i see|hm|hmm|what|why|really|same|and|more|undo|redo|help|weiter|ja|nein|"
        "danke|mach weiter|nochmal|sí|si|gracias|continúa|sigue|otra vez|oui|non|merci|continue stp|encore|vas-y|"
        "sim|não|obrigado|obrigada|continua|de novo|да|нет|спасибо|продолжай|дальше|ещё раз|继续|好|好的|是|是的|"
        "对|不|谢谢|再试一次|可以|はい|いいえ|続けて|続けてください|ありがとう|ありがとうございます|もう一度|"
        "お願いします"
    ).split("|")
)
"""Whole messages that keep a conversation going without asking for anything new."""

PRAISE: Final = (
    r"(?:thanks?(?: you)?(?: so much| a lot)?|perfect|great|excellent|awesome|wonderful|amazing|brilliant|nice"
    r"|lovely|fantastic"
    r"|(?:very )?good (?:job|work)|well done|(?:that's|that is|this is|it's|looks?|exactly|just) (?:\w+ ){0,2}"
    r"(?:perfect|great|good|right|what i (?:wanted|needed))|love it|i like (?:it|this|that)"
    r"|perfekt|super|danke|sehr gut|perfecto|genial|muy bien|gracias|parfait|très bien|merci|perfeito|ótimo"
    r"|muito (?:bom|bem)|excelente(?: trab\w+)?|buen trabajo|bom trabalho|bon travail|gute arbeit"
    r"|отлично|прекрасн(?:о|ая работа)|хорошая работа|очень хорошо|супер|спасибо"
    r"|很好|太好了|太棒了?|完美|不错|谢谢|完璧|素晴らしい|ありがとう|(?:とても)?(?:いい|良い)です)"
)
"""How a sentence of praise begins."""

CUES: Final = (
    # English: refusals and complaints
    r"no[,.!:;]",
    r"no (?=you|that|it|this|the|always|never|don't|i |please|not )",
    r"nope\b|wrong\b|incorrect\b|not (?:quite|like that|right|what|good|correct|again|so)\b|still missing\b",
    r"(?:that|this|it)(?:'s| is| was| isn't| is not) (?:\w+ ){0,2}(?:wrong|incorrect|not|right|too|missing|bad"
    r"|off)\b",
    r"(?:that|this|it)(?: isn't| wasn't| doesn't| didn't| does not| did not)\b",
    r"you (?:forgot|missed|left|didn't|did not|don't|do not|never|still|keep|always|should|must|were|need"
    r"|have to|ignored|wrote|used|said|put|mentioned)\b",
    r"i (?:said|told|asked|meant|already|don't|do not|didn't|did not)\b|as i (?:said|told|asked)\b",
    r"how many times\b|(?:how often|why) (?:did(?:n't)?|do(?:n't)?|must|have) (?:you|i)\b",
    r"(?:there(?:'s| is| are| was)) (?:no|not|still)\b",
    # English: standing orders
    r"(?:please )?(?:always|never(?! mind)|don't|do not|stop|avoid|remember|make sure|be sure|ensure)\b",
    r"(?:next time|from now on|in (?:the )?future|going forward|every time|each time)\b",
    r"(?:it|this|that|the (?:\w+ )?(?:answer|reply|response|text|output|result|notes?"
    r"|summary|message|note|brief"
    r"|report))"
    r" (?:must|should|needs?|has to|ought|shall|lacks?|may not|cannot|can't|is missing)\b",
    r"(?:there (?:must|should|has to|needs to))\b",
    r"(?:much |way |still |far )?too (?:long|short|wordy|verbose|vague|formal|informal|many|much|detailed)\b",
    r"(?:shorter|longer|simpler)\b|(?:instead|rather)\b",
    # German, Spanish, French, Portuguese, Russian
    r"nein\b|falsch\b|(?:so|das) (?:\w+ )?nicht\b|es fehlt|ich wollte (?:das|es)\b|das (?:ist|war) (?:falsch"
    r"|nicht|zu)\b|immer\b|nie(?:mals)?\b|nächstes mal|ab jetzt|künftig"
    r"|du hast\b"
    r"|ich (?:habe|hatte) (?:doch )?gesagt|stattdessen|zu (?:lang|kurz)|nicht (?:so|schon)",
    r"no[,.] |así no\b|incorrecto\b|está mal|eso (?:está|no)|siempre\b|nunca\b|la próxima vez|a partir de ahora"
    r"|te (?:dije|olvidaste)"
    r"|olvidaste"
    r"|en (?:su|vez) (?:lugar|de)|demasiado\b|falta\b|(?:no )(?:uses|digas|menciones|escribas|pongas)",
    r"non[,.! ]|pas (?:comme|si)\b|incorrect\b|c'est (?:faux|pas|trop)|ce n'est pas|toujours\b|jamais\b"
    r"|la prochaine fois|désormais|tu as oublié"
    r"|j'ai (?:dit|demandé)|plutôt\b|trop (?:long|court)|il (?:manque|faut)|n(?:'|e )\w+ pas\b",
    r"não[,.! ]|assim não\b|incorret[oa]\b|está errado|isso (?:está|não)|sempre\b|da próxima vez"
    r"|a partir de agora|eu (?:disse|pedi)|em vez"
    r"|você esqueceu|faltou\b|muito (?:longo|curto)",
    r"нет[,.! ]|не так\b|неверно|неправильно|это не|всегда\b|никогда\b|в следующий раз|впредь|ты забыл"
    r"|я (?:же )?(?:сказал"
    r"|просил)"
    r"|вместо\b|слишком\b|не (?:надо|нужно|пиши|используй|упоминай|забывай)|отсутствует",
    # Chinese, Japanese
    r"不对|不是|这不是|那不是|格式不对|错了|不行|总是|永远|以后|下次|每次|不要|别|你(?:忘|没|漏)|我说|应该"
    r"|必须|务必|太(?:长|短)|而不是"
    r"|缺少|请勿",
    r"違(?:う|い)|ちがう|間違|いつも|常に|必ず|次回|次から|今後|絶対に|そうじゃ|ではなく|じゃなく|忘れ|と言った"
    r"|長すぎ|短すぎ|[^。、]{1,20}?(?:を忘れ|しないで|ないでください|ではありません|じゃない)"
    r"|[^。、]{1,20}?が(?:違う|違い|足りない|抜けて)",
)
"""How a sentence begins that corrects the reply before it."""
