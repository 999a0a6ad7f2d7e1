"""Sentences in seven languages: each beginning with each end, 1,008 in all."""

from itertools import product

PARTS = {
    "en": (
        "A small dog|Two women|An old man|Three children|A black cat|The driver's friend"
        "|A girl in a T-shirt|Several well-dressed people|A fire-fighter|Someone"
        "|A brown/white horse"
        "|The cyclists",
        "waits at a bus stop.|eats ice cream, slowly!|looks at 2,500 books"
        "|runs across the wet street"
        "|sits under a red umbrella.|holds a 3.5 kg fish|plays in the snow"
        "|isn’t near the well-lit shop"
        "|sleeps on a sofa at 10:30|carries bags & boxes|stands by the sea…"
        "|reads (again) in the park",
    ),
    "de": (
        "Ein kleiner Hund|Zwei Frauen|Ein alter Mann|Drei Kinder|Eine schwarze Katze"
        "|Der Straßenbahnfahrer|Ein Mädchen im T-Shirt|Mehrere Fußgänger|Eine Feuerwehrfrau"
        "|Jemand"
        "|Ein braun-weißes Pferd|Die Radfahrer",
        "wartet an der Haltestelle.|isst langsam Eis!|betrachtet 2.500 Bücher"
        "|läuft über die Straße"
        "|sitzt unter einem roten Regenschirm.|hält einen 3,5 kg schweren Fisch|spielt im Schnee"
        "|geht’s gemütlich an|schläft um 10:30 Uhr auf dem Sofa|trägt Taschen und Kisten"
        "|steht am Meer …|liest „wieder“ im Park",
    ),
    "es": (
        "Un perro pequeño|Dos mujeres|Un anciano|Tres niños|Un gato negro|El conductor"
        "|Una niña en camiseta|Varias personas|Una bombera|Alguien|Un caballo blanco"
        "|Los ciclistas",
        "espera en la parada.|¿come helado?|mira 2.500 libros|cruza la calle mojada"
        "|se sienta bajo un paraguas rojo.|sostiene un pez de 3,5 kg|juega en la nieve"
        "|está cerca del café-bar|duerme a las 10:30|lleva bolsas y cajas|está junto al mar…"
        "|lee «otra vez» en el parque",
    ),
    "fr": (
        "Un petit chien|Deux femmes|Un vieil homme|Trois enfants|Un chat noir|L’ami du conducteur"
        "|Une fille en T-shirt|Plusieurs personnes|Une pompière|Quelqu’un|Un cheval brun-blanc"
        "|Les cyclistes",
        "attend à l’arrêt de bus.|mange une glace !|regarde 2 500 livres|traverse la rue mouillée"
        "|s’assoit sous un parapluie rouge.|tient un poisson de 3,5 kg|joue dans la neige"
        "|n’est pas loin du café|dort à 10 h 30|porte des sacs et des boîtes"
        "|est au bord de la mer…"
        "|lit « encore » au parc",
    ),
    "zh": (
        "一只小狗|两个女人|一位老人|三个孩子|一只黑猫|公交车司机的朋友|穿T恤的女孩|几个穿着讲究的人"
        "|一名消防员|有人|一匹棕白相间的马|骑自行车的人",
        "在公交车站等车。|慢慢地吃冰淇淋！|看着2,500本书|跑过湿漉漉的街道|坐在红色的雨伞下。"
        "|拿着一条3.5公斤的鱼|在雪地里玩耍|站在明亮的商店附近|10:30在沙发上睡觉|搬着袋子和箱子"
        "|站在海边……|在公园里“又”看书",
    ),
    "ja": (
        "小さな犬が|二人の女性が|おじいさんが|三人の子どもが|黒い猫が|バスの運転手の友だちが"
        "|Tシャツを着た女の子が|おしゃれな人たちが|消防士が|だれかが|茶色と白の馬が|自転車に乗った人たちが",
        "バス停で待っている。|ゆっくりアイスクリームを食べる！|2,500冊の本を見ている|濡れた道を走って渡る"
        "|赤い傘の下に座っています。|3.5kgの魚を持っている|雪の中で遊んでいる|明るい店の近くに立っている"
        "|10:30にソファーで眠っている|袋と箱を運んでいる|海辺に立っている…|公園で「また」本を読む",
    ),
    "ar": (
        "كلب صغير|امرأتان|رجل مسن|ثلاثة أطفال|قطة سوداء|صديق السائق|فتاة بقميص|عدة أشخاص"
        "|رجل إطفاء|شخص ما|حصان بني وأبيض|راكبو الدراجات",
        "ينتظر عند موقف الحافلة.|يأكل المثلجات ببطء!|ينظر إلى ٢٬٥٠٠ كتاب|يعبر الشارع المبلل"
        "|يجلس تحت مظلة حمراء.|يحمل سمكة وزنها ٣٫٥ كغ|يلعب في الثلج|يقف قرب المتجر المضاء"
        "|ينام على الأريكة الساعة 10:30|يحمل أكياسًا وصناديق|يقف بجانب البحر…"
        "|يقرأ «مرة أخرى» في الحديقة",
    ),
}


def sentences():
    """All sentences, with the tag of their language."""
    for tag, (beginnings, ends) in PARTS.items():
        space = "" if tag in {"zh", "ja"} else " "
        for beginning, end in product(beginnings.split("|"), ends.split("|")):
            yield tag, beginning + space + end
