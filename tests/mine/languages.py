"""Turns as people type them after a reply, in eight languages, with what each is."""

from __future__ import annotations

from typing import Final

from skillopt_sleep.mine.corrections import TurnKind

TURNS: Final[dict[str, dict[TurnKind, tuple[str, ...]]]] = {
    "en": {
        "correction": (
            "No, always end with a line that names the owner.",
            "That's not what I asked for, keep it under 50 words.",
            "Wrong format. Use bullet points.",
            'You forgot the heading "Risks".',
            "Please don't use emojis.",
            "Not so long!",
            "Still missing the summary at the top.",
            "Next time start with the verdict.",
        ),
        "praise": ("Perfect, thanks!", "Great, exactly what I wanted.", "Looks great.", "Nice work, thank you."),
        "request": (
            "Write the release notes for the login form.",
            "Now draft an email to the supplier about the late delivery.",
            "Summarise the meeting about the new warehouse.",
            "Can you translate the return policy into Dutch?",
        ),
    },
    "de": {
        "correction": (
            "Nein, bitte immer mit einer Zusammenfassung beginnen.",
            "Das stimmt nicht, es fehlt die Überschrift.",
            "Das ist zu lang, höchstens 80 Wörter.",
            "Falsch. Verwende keine Aufzählungen.",
            "Du hast die Überschrift vergessen.",
            "Nicht so förmlich, bitte.",
            "So nicht: schreib es kürzer.",
            "Ich wollte das als JSON.",
        ),
        "praise": ("Perfekt, danke!", "Super, genau so.", "Sehr gut gemacht.", "Danke, passt."),
        "request": (
            "Schreib die Versionshinweise für das Anmeldeformular.",
            "Erstelle eine E-Mail an den Lieferanten wegen der Verspätung.",
            "Fasse die Besprechung über das neue Lager zusammen.",
            "Kannst du die Rückgaberegeln ins Englische übersetzen?",
        ),
    },
    "es": {
        "correction": (
            "No, siempre termina con el nombre del responsable.",
            "Eso no es lo que pedí, hazlo más corto.",
            "Está mal, falta el título.",
            "Así no. Usa viñetas.",
            "Te olvidaste del resumen.",
            "Demasiado largo, máximo 50 palabras.",
            "No uses emojis.",
            "Incorrecto, quería el resultado en JSON.",
        ),
        "praise": ("¡Perfecto, gracias!", "Muy bien, exactamente así.", "Excelente trabajo.", "Genial, gracias."),
        "request": (
            "Escribe las notas de la versión para el formulario de acceso.",
            "Redacta un correo al proveedor sobre el retraso.",
            "Resume la reunión sobre el nuevo almacén.",
            "¿Puedes traducir la política de devoluciones al inglés?",
        ),
    },
    "fr": {
        "correction": (
            "Non, termine toujours par le nom du responsable.",
            "Ce n'est pas ce que j'ai demandé, fais plus court.",
            "C'est faux, il manque le titre.",
            "Pas comme ça. Utilise des puces.",
            "Tu as oublié le résumé.",
            "Trop long, 50 mots maximum.",
            "N'utilise pas d'emojis.",
            "Incorrect, je voulais du JSON.",
        ),
        "praise": ("Parfait, merci !", "Très bien, exactement ça.", "Excellent travail.", "Super, merci."),
        "request": (
            "Écris les notes de version pour le formulaire de connexion.",
            "Rédige un courriel au fournisseur à propos du retard.",
            "Résume la réunion sur le nouvel entrepôt.",
            "Peux-tu traduire la politique de retour en anglais ?",
        ),
    },
    "pt": {
        "correction": (
            "Não, termine sempre com o nome do responsável.",
            "Não foi isso que pedi, faça mais curto.",
            "Está errado, falta o título.",
            "Assim não. Use marcadores.",
            "Você esqueceu o resumo.",
            "Muito longo, no máximo 50 palavras.",
            "Não use emojis.",
            "Incorreto, eu queria o resultado em JSON.",
        ),
        "praise": ("Perfeito, obrigado!", "Muito bem, exatamente assim.", "Excelente trabalho.", "Ótimo, obrigada."),
        "request": (
            "Escreva as notas da versão para o formulário de login.",
            "Redija um e-mail ao fornecedor sobre o atraso.",
            "Resuma a reunião sobre o novo armazém.",
            "Você pode traduzir a política de devolução para o inglês?",
        ),
    },
    "ru": {
        "correction": (
            "Нет, всегда заканчивай именем ответственного.",
            "Это не то, что я просил, сделай короче.",
            "Неправильно, нет заголовка.",
            "Не так. Используй список.",
            "Ты забыл краткое содержание.",
            "Слишком длинно, не больше 50 слов.",
            "Не используй эмодзи.",
            "Неверно, мне нужен JSON.",
        ),
        "praise": ("Отлично, спасибо!", "Очень хорошо, именно так.", "Прекрасная работа.", "Супер, спасибо."),
        "request": (
            "Напиши примечания к выпуску для формы входа.",
            "Составь письмо поставщику о задержке.",
            "Подготовь краткое изложение встречи о новом складе.",
            "Можешь перевести правила возврата на английский?",
        ),
    },
    "zh": {
        "correction": (
            "不对,结尾要写负责人的名字。",
            "这不是我要的,写短一点。",
            "错了,没有标题。",
            "不要这样,用列表。",
            "你忘了写摘要。",
            "太长了,最多50个字。",
            "不要用表情符号。",
            "格式不对,我要的是JSON。",
        ),
        "praise": ("很好,谢谢!", "完美,就是这样。", "不错,谢谢。", "太棒了,谢谢你。"),
        "request": (
            "请为登录表单写发布说明。",
            "给供应商写一封关于延迟的邮件。",
            "总结一下关于新仓库的会议。",
            "把退货政策翻译成英文。",
        ),
    },
    "ja": {
        "correction": (
            "違います。最後に必ず担当者の名前を書いてください。",
            "それは頼んだものではありません。もっと短くしてください。",
            "間違っています。見出しがありません。",
            "そうじゃなくて、箇条書きにしてください。",
            "要約を忘れています。",
            "長すぎます。50語以内にしてください。",
            "絵文字は使わないでください。",
            "形式が違う。JSONで出してください。",
        ),
        "praise": (
            "完璧です、ありがとう!",
            "とても良いです。",
            "素晴らしい、ありがとうございます。",
            "いいですね、ありがとう。",
        ),
        "request": (
            "ログインフォームのリリースノートを書いてください。",
            "遅延について仕入先にメールを書いてください。",
            "新しい倉庫についての会議を要約してください。",
            "返品ポリシーを英語に翻訳してください。",
        ),
    },
}
