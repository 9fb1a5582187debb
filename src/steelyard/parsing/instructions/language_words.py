"""What tells languages apart: scripts, letters of one language alone, and the commonest function words.

Source: general knowledge of the languages' grammar words; codes as in ISO 639-1, Chinese as `zh-cn` and `zh-tw`.
Easy to break: a word in two lists counts half for each, so adding one changes both languages.
"""

from __future__ import annotations

SCRIPTS: dict[str, str] = {
    "arabic": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff",
    "armenian": "\u0530-\u058f",
    "bengali": "\u0980-\u09ff",
    "cyrillic": "\u0400-\u04ff",
    "devanagari": "\u0900-\u0963\u0966-\u097f",
    "ethiopic": "\u1200-\u137f",
    "georgian": "\u10a0-\u10ff",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "gujarati": "\u0a80-\u0aff",
    "gurmukhi": "\u0a00-\u0a7f",
    "han": "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff",
    "hangul": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "hebrew": "\u0590-\u05ff",
    "kana": "\u3041-\u3096\u30a1-\u30fa\u30fc",
    "kannada": "\u0c80-\u0cff",
    "khmer": "\u1780-\u17ff",
    "lao": "\u0e80-\u0eff",
    "latin": "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff",
    "malayalam": "\u0d00-\u0d7f",
    "myanmar": "\u1000-\u109f",
    "sinhala": "\u0d80-\u0dff",
    "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f",
    "thai": "\u0e00-\u0e7f",
}
"""Script -> the characters that belong to it, as a regular expression class."""

ALONE = {
    "bn": "bengali", "el": "greek", "gu": "gujarati", "he": "hebrew", "hy": "armenian", "am": "ethiopic",
    "ka": "georgian", "kn": "kannada", "ko": "hangul", "ml": "malayalam", "pa": "gurmukhi", "si": "sinhala",
    "ta": "tamil", "te": "telugu", "th": "thai", "km": "khmer", "lo": "lao", "my": "myanmar",
}  # fmt: skip
"""Languages that a script of their own tells."""

SHARED = {
    "ar": "arabic", "fa": "arabic", "ur": "arabic",
    "bg": "cyrillic", "mk": "cyrillic", "ru": "cyrillic", "sr": "cyrillic", "uk": "cyrillic",
    "hi": "devanagari", "mr": "devanagari", "ne": "devanagari",
}  # fmt: skip
"""Languages that share a script other than Latin."""

LETTERS: dict[str, str] = {
    "en": "", "nl": "ëï", "id": "", "tl": "", "sw": "", "so": "", "af": "êëï",
    "es": "áéíóúñü¿¡", "pt": "áéíóúâêôãõçà", "fr": "éèêëàâîïôûùçœ", "it": "àèéìòù", "ca": "àéèíïóòúüç", "ro": "ăâîșțşţ",
    "de": "äöüß", "sv": "åäö", "da": "åæø", "no": "åæø", "fi": "äö", "et": "äöüõ", "hu": "áéíóöőúüű",
    "pl": "ąćęłńóśźż", "cs": "áéíóúýčďěňřšťůž", "sk": "áäéíóôúýčďľĺňŕšťž", "sl": "čšž", "hr": "čćđšž",
    "lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž", "tr": "çğıöşü", "sq": "ëç", "cy": "âêîôŵŷ",
    "vi": "àáâãèéêìíòóôõùúýăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
    "ar": "أإةىؤ", "fa": "پچژگیک", "ur": "پچژگیکٹڈڑںےہھ",
    "ru": "ыэё", "uk": "іїєґ", "bg": "ъ", "mk": "јљњѓќѕџ", "sr": "јљњђћџ",
    "hi": "ड़ढ़ज़फ़", "mr": "ळॉऱ", "ne": "",
}  # fmt: skip
"""Letters beyond the ones that all languages of the script use."""

WORDS: dict[str, str] = {
    "en": "morning welcome soon good be there here very much many day time like make made get go come see know "
    "think want world life way the of and to in a is that it for was on are with as i his they at one have this "
    "from or had by but what some we can out other were all when your how said an each she which their will up "
    "about if not so these her would him has you do my me our been its who more than then them no yes thanks "
    "please hello hi don't it's i'm he into could did just",
    "es": "sé dónde cómo cuándo mi tu nuestro nuestra libro tengo dinero perro casa mañana bien gracias "
    "muchas hoy vivir mundo mejor años hermana el la de que y "
    "en los del se las por un para con no una su al es lo como más pero sus le ya o este sí porque esta entre "
    "cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno les ni contra ese eso "
    "mí qué e ellos esto ella son hola yo tú está están fue ser puede tiene aquí así buenos días",
    "pt": "tenho dinheiro casa amanhã bem obrigado muito obrigada hoje mundo melhor anos bom dia nossa nosso "
    "tudo o a de que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à "
    "seu sua ou ser quando há nos já está eu também só pelo pela até isso ela entre era depois sem mesmo aos ter "
    "seus quem nas me esse eles estão você essa num nem suas meu às minha têm numa pelos elas havia seja qual será "
    "nós olá são",
    "fr": "chien maison demain vais beaucoup bonjour aujourd'hui monde dans notre le la les de des du et un une "
    "est que qui pour pas sur avec ce il elle je vous nous ne se au aux par plus son sa ses mais ou où si leur "
    "leurs bien tout comme être fait cette ces sont était avoir même mon ma mes votre très aussi d'un d'une c'est "
    "j'ai qu'il l'on n'est merci oui non y en à été ont on peut",
    "de": "vielen dank guten morgen gehe geht schön gut heute abend tag bitte wir deinen seinen nichts etwas "
    "sehr viel wo warum der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es "
    "an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur "
    "oder aber vor zur bis mehr durch man sein wurde ich du ihr mich dich uns euch mein dein hallo danke ja nein "
    "kann wenn diese dieser eines",
    "it": "mille buongiorno domani vado tutti nostro nostra vostro grande molto oggi bella casa il un dopo anni "
    "fa di che è e la a per in una mi sono ho lo ma ti ha le si non con i da cosa se io ci questo qui hai sei del "
    "bene tu sì me più al mio c'è perché lei solo te era gli tutto della così mia ne questa fare quando ora nel "
    "alla anche come dei delle degli nella dal dalla ciao grazie loro suo sua suoi essere o",
    "nl": "hallo goed goede dank gaat ga vandaag huis de het een en van ik te dat die in is niet je zijn op aan "
    "met als voor er maar om dan zou wat mijn men dit zo door over ze zich bij ook tot mij uit der daar haar naar "
    "heb hoe heeft hebben deze u want nog zal me zij nu ge geen omdat iets worden toch al waren veel meer doen "
    "moet ben zonder kan hun dus alles onder ja eens hier wie werd altijd wordt",
    "sv": "hej hur mår dag går huset tack bra idag och det att i en jag hon som han på den med var sig för så "
    "till är men ett om hade de av icke mig du henne då sin nu har inte hans honom skulle hennes där min man ej "
    "vid kunde något från ut när efter upp vi dem vara vad över än dig kan sina här ha mot alla under någon eller "
    "allt mycket sedan ju denna själv detta åt utan varit ingen",
    "da": "hej hvordan dag går hus huset tak godt og i jeg det at en den til er som på de med han af for ikke "
    "der var mig sig men et har om vi min havde ham hun nu over da fra du ud sin dem os op man hans hvor eller "
    "hvad skal selv her alle vil blev kunne ind når være dog noget mod disse hvis din nogle hos blive mange ad "
    "bliver hendes været jer",
    "no": "hei hvordan dag går huset takk godt skal og i jeg det at en et den til er som på de med han av ikke "
    "der så var meg seg men ett har om vi min mitt ha hadde hun nå over da ved fra du ut sin dem oss opp man kan "
    "hans hvor eller hva selv sjøl her alle vil bli ble blitt kunne inn når være kom noen noe ville dere deres kun "
    "ja etter ned skulle denne for deg si sine sitt mot å",
    "fi": "koira talossa huomenna menen kiitos paljon hyvää päivää ja on ei se että hän oli joka ovat olen mutta "
    "kun niin kuin myös tai jos mitä minä sinä me te he ole voi tämä ne jotka sen siitä vain nyt sitten kanssa "
    "mukaan ollut olla en et emme ette eivät hänen minun sinun tässä siinä mikä missä koska sekä eli vielä kaikki "
    "hyvin sitä tätä jo ennen jälkeen kautta vuonna hei kyllä",
    "et": "ja on ei see et ta oli kes aga kui ka või mis ma sa me te nad olen olla oma selle seda siis nii veel "
    "ning välja oleks pole mitte tema minu sinu meie teie nende üks juba kas siin seal just väga kõik mida kus "
    "sest",
    "lt": "ir yra kad tai ne jis buvo su iš į bet kaip o ar aš tu mes jūs jie ji dar jau tik kai jo jos savo "
    "labai šis ši šio kuris kuri apie prie nuo iki už dėl per pas būti gali turi man tau taip",
    "lv": "un ir ka tas tā ar no uz bet kā vai es tu mēs jūs viņi viņš viņa par pie līdz pēc tikai vēl jau kas "
    "kur šis šī lai nav bija būt var ļoti savu to ko pat",
    "pl": "jutro idę dzisiaj dobrze dom domu dzień dobry i w nie na się że do jest to z jak za co ale po tak o "
    "od jego go czy przez już dla ma tym być jej tylko może są mnie ich był było która który które te ten ta "
    "bardzo jeszcze gdy kiedy gdzie lub oraz jako pod nad we ze cześć dziękuję mój moja ja ty my wy oni tego tej",
    "cs": "ahoj jdu dnes dobrý den děkuji jak máš a se v je na že to s z do i o k ve za by ale jako po jsem si "
    "už tak nebo ten ta ty jeho její od aby což není bylo byl byla jsou jen při pro kde když více také které který "
    "která co být můj bych mi mě ho jsme ke",
    "sk": "a sa v je na že to s z do i o k vo za by ale ako po som si už tak alebo ten tá jeho jej od aby čo nie "
    "bolo bol bola sú len pri pre kde keď viac tiež ktoré ktorý ktorá byť môj ma mi ho sme",
    "sl": "in je v na da se so za ki z s pa ne to kot po od bi tudi ali še ni ta bo pri do kar lahko iz kako vse "
    "jih ga med samo že bil bila bilo sem smo ste ti mi jaz kaj ko",
    "hr": "i je u na da se su za od s a koji ne što to kao iz o će ali bi sam biti ili po nije samo još ova ovo "
    "kako koja koje bio bila bilo do ako smo ste te već kod ja ti mi vi oni ona",
    "hu": "holnap megyek vagy ma jó napot a az és hogy nem is egy van ez de meg ha csak volt mint már én te ő mi "
    "ti ők ki el még azt ezt minden majd lesz kell után nagyon itt ott most volna amely aki ami mert pedig illetve "
    "által között szia köszönöm",
    "ro": "mâine merg casa azi bine ziua ce și în de la a cu nu pe o un să este care că din pentru mai sunt fi "
    "se au am ai fost dar ca sau ei el ea lui lor cum dacă după până foarte prin această acest fără când unde sa "
    "său eu tu noi voi bună mulțumesc al ale ar",
    "tr": "köpek evde bugün güzel ev ve bir bu da de için ile çok ne o ben sen biz siz onlar gibi daha en kadar "
    "var yok değil ama olarak olan sonra her şey mi mı mu ya ki diye ise veya nasıl neden olduğu olduğunu "
    "tarafından merhaba teşekkürler evet hayır bunu",
    "id": "halo apa kabar besok pergi saya adik selamat pagi rumah yang dan di itu dengan untuk tidak ini dari "
    "dalam akan pada juga ke karena tersebut bisa ada mereka lebih kata tahun sudah atau saat oleh menjadi orang "
    "ia telah adalah seperti sebagai bahwa dapat para harus namun kita dua satu masih hari hanya kami anda kamu "
    "aku terima kasih bukan jika",
    "tl": "ang ng sa mga na at ay ito si hindi ko mo siya kung para may ako ikaw kami tayo sila nito niya namin "
    "natin kanila isang dahil lang din rin pa po ba kaya upang mula nang wala naman dito doon iyon",
    "vi": "khỏe ngày mai chị đi chào và của là có trong được cho không một các những với này để người khi đã đến "
    "từ về như tôi bạn cũng trên nhưng thì ra đó hay nhiều năm sẽ rất phải vào còn lại làm ở chúng ta anh em mà "
    "nếu vì xin cảm ơn nhất theo hơn đang",
    "sw": "kesho nitaenda mbwa ndani nyumba habari zenu karibu leo watoto nchi siku na ya wa kwa ni la za katika "
    "cha kama hii huu hiyo kuwa si pia ili lakini au yake wake watu mimi wewe sisi ninyi wao yeye hilo huyo hao "
    "sana bila baada kabla kwamba lazima jambo asante ndiyo hapana wetu yetu yangu wangu yako wako moja mbili "
    "zaidi kila hivyo je mtu ana ina kutoka hadi vile ambayo ambao kwenye nami tu",
    "so": "waa iyo oo ka ku ah in la soo u si ee ay uu waxaa ayaa aan kale ugu laga isku mid badan leh isaga "
    "iyada kasta waxay waxa ama haddii laakiin",
    "af": "die en van het is in 'n nie te dat wat hy sy vir met as ek om op ons was aan by sal maar kan word "
    "deur ook haar hulle jy jou my dit daar so uit al moet nog geen meer baie of",
    "ca": "el la de que i en els les del per un una amb no és al es com més però seu seva aquest aquesta també "
    "ha són dels o si molt quan on sense sobre fins hi ho què jo tu nosaltres pot ser està",
    "cy": "y yr yn a i o ar mae ei am ac wedi sydd gan fod nid hyn oedd hefyd ond eu fel un roedd gyda mewn wrth "
    "ni chi nhw ein eich bod dim",
    "sq": "e të në dhe i një për me që nga është më u ka nuk janë si do kjo ky por ishte edhe shumë mund tij saj "
    "tyre unë ti ne ju ata",
    "ar": "في من على إلى أن هذا هذه التي الذي مع عن كان لا ما هو هي كما أو قد لم بعد كل بين إن ذلك تلك عند حيث "
    "حتى أنا أنت نحن هم كانت يمكن أي غير فقط جدا ليس لكن ثم منذ يا شكرا مرحبا نعم",
    "fa": "و در به از که این را با است برای آن می یک تا هم بر ما شما من او آنها بود شد شده کرد خود های ها اما یا "
    "اگر همه هر نیز باید دارد کند کنید هستند چه نه سلام بسیار پس",
    "ur": "کے کی کا میں ہے ہیں اور سے کو نے پر یہ کہ بھی تھا تھی تھے جو اس ان وہ ایک نہیں ہو کر لئے لیے ہم آپ "
    "مجھے میرے گا گی گے کیا تو ہی جب اپنے شکریہ سلام ہوتا ہوں",
    "ru": "завтра иду большое здравствуйте сегодня доме хорошо дела и в не на что он с как это по но из у за от "
    "так же для бы то все она его к я мы вы они о если или ее их ли уже при был была было были быть до когда чтобы "
    "только может еще очень который которые нет да есть привет спасибо во со",
    "uk": "завтра йду справи сьогодні добре хаті велике і в не на що він з як це по але із у за від так же для б "
    "то все вона його до я ми ви вони про якщо або її їх чи вже при був була було були бути коли щоб тільки може "
    "ще дуже який які та є ні привіт дякую",
    "bg": "утре отивам къщата здравейте днес добре и на е да се за от не с че ще в са като по това но си или ли "
    "до при аз ти той тя ние вие те го му ги само още има няма какво кой която който които беше във със един една "
    "много може след когато защо здравей благодаря тази този",
    "mk": "и на е да се за од не со дека ќе во како по ова но си или ли до при јас ти тој таа ние вие тие го му "
    "ги само уште има нема што кој која беше еден една многу може",
    "sr": "и је у на да се су за од с а који не што то као из о ће али би сам бити или по није само још ова ово "
    "како која које био била било до ако смо сте",
    "hi": "नमस्ते कैसे कल मेरी अपनी है हैं का की के में और को से पर यह था थी थे नहीं कि हो ने एक लिए भी जो तो हम "
    "आप मैं वह इस उस ये वे अपने कर रहा रही रहे करने गया हुए हुआ क्या या सकते सकता होता होती होते कुछ साथ जब तक "
    "बहुत मेरे मुझे आपके हूं हूँ",
    "mr": "नमस्कार कसे आहात उद्या माझ्या आहे आहेत आणि च्या मध्ये हे ही हा नाही होते होता होती त्या या साठी असे "
    "आपण मी तो ती ते एक की पण म्हणून करण्यासाठी आपल्या त्यांच्या किंवा जर तर खूप काही मला तुम्ही केले झाले असते "
    "असतात करा आम्ही त्याच्या सर्व येथे होतो",
    "ne": "नमस्ते कस्तो भोलि मेरी गर्दै छन छ छन् र को का मा लाई हुन्छ गर्न भएको यो हो पनि तथा गर्नुहोस् थियो म "
    "छु लागि गर्छ गर्छन् हाम्रो तपाईं मेरो त्यो एक धेरै साथ भने गरेको गरी हुन् थिए यस कुनै वा नै भन्ने उनको "
    "तपाईंको हामी सबै छैन",
}
"""Language -> its commonest function words."""

ENDINGS: dict[str, tuple[str, ...]] = {
    "hi": ("ों", "ाएं", "ाएँ", "ियाँ", "ियां"),
    "mr": ("च्या", "ची", "चे", "चा", "साठी", "मध्ये", "ून", "ांना", "ात", "वर"),
    "ne": ("मा", "को", "हरू", "लाई", "बाट", "सँग", "दै", "ेको", "ने"),
}
"""Endings that mark a language among those of its script whose function words are glued to nouns."""

SIMPLIFIED = (
    "们这国个说时为来对发会动学经后点业东车马长门问间关难话语读写请"
    "让认识谁谢欢乐书吗场买卖气电样过还进没边爱儿几万与从觉应该头听"
)
TRADITIONAL = (
    "們這國個說時為來對發會動學經後點業東車馬長門問間關難話語讀寫請"
    "讓認識誰謝歡樂書嗎場買賣氣電樣過還進沒邊愛兒幾萬與從覺應該頭聽"
)
"""The same characters in the two writings of Chinese, where these differ."""
