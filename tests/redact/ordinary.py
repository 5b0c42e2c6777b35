"""Text without secrets: what people and agents write most of the time."""

from __future__ import annotations

import hashlib
import uuid

_HASHES = [hashlib.sha1(str(n).encode(), usedforsecurity=False).hexdigest() for n in range(60)]
_LOG = "\n".join(f"commit {h}\nAuthor: Ann <ann@example.com>\n    fix #{n}, see {h[:8]}" for n, h in enumerate(_HASHES))
_IDS = "\n".join(
    f'{{"id": "{uuid.UUID(int=n * 7919**6 % 2**128)}", "sha256": "{h}{h[:24]}"}}' for n, h in enumerate(_HASHES)
)

_PYTHON = '''
class Login(BaseModel):
    """Checks a user's password against the stored hash; the token lives for an hour."""

    username: str
    password: SecretStr
    token: str | None = None
    max_tokens: int = 4096

    def check(self, secret: bytes, *, key: str = "default") -> bool:
        password = self.password.get_secret_value()
        token = self.issue_token(password, ttl=3600)
        if token == expected_token or password != stored_password:
            raise AuthError("invalid password", token_type="bearer")
        return hmac.compare_digest(digest(password, secret), self.password_hash)


def read(path: Path, api_key: str = os.environ["API_KEY"]) -> dict[str, str]:
    parser.add_argument("--password", help="the password of the user, asked for where it is absent")
    return {"token": token, "secret": config.secret, "password": getpass(), "url": f"https://{host}:{port}/v1"}
'''
_TYPESCRIPT = """
export interface Credentials { username: string; password: string; token?: string; apiKey: string }
const tokens: Token[] = tokenizer.encode(text).map((token) => token.id);
const { password, secret } = await readCredentials(process.env.CREDENTIALS_FILE ?? './credentials.json');
fetch(`${base}/login?user=${user}&password=${encodeURIComponent(password)}`, {
  headers: { Authorization: `Bearer ${token}` },
});
<input type="password" name="password" placeholder="Password" autocomplete="current-password" />
.btn-primary { background: url(data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk) }
.sk-circle-fade-dot .sk-folding-cube-1 .sk-chasing-dot-before-animation { animation-delay: -1.1s }
"""
_YAML = """
services:
  db:
    image: postgres:16.3-alpine@sha256:%s
    environment: { POSTGRES_PASSWORD_FILE: /run/secrets/db, PGDATA: /var/lib/postgresql/data }
    secrets: [db-password]
  web:
    image: ghcr.io/example/web:1.42.0-rc.3
    env_file: .env
    secrets:
      - source: web-token
        target: /run/secrets/web-token
kind: Secret
metadata: { name: app-secret-2024-v2, namespace: default }
tokenizer: bert-base-uncased
""" % (_HASHES[0] + _HASHES[1][:24])
_SHELL = """
git log --oneline 3f2a91c..HEAD && git rebase --onto main feature/login-password-reset
docker run -u 1000:1000 -e PASSWORD_FILE=/run/secrets/pw -p 8080:80 --rm -it ghcr.io/example/app:latest
npm install @scope/package@1.2.3 --registry=http://localhost:4873/
export PATH="$HOME/.local/bin:$PATH" PWD=/home/ann/work OLDPWD=/home/ann
curl -H "Authorization: Bearer $TOKEN" https://api.example.com/v1/items?page=2&sort=created_at&code=200
ssh-keygen -t ed25519 -C "ann@example.com" && cat ~/.ssh/id_ed25519.pub
"""

ORDINARY: dict[str, str] = {
    "git log": _LOG,
    "ids and checksums": _IDS,
    "python": _PYTHON,
    "typescript, html and css": _TYPESCRIPT,
    "yaml": _YAML,
    "shell": _SHELL,
    "english": """
Please write a commit message for the login form. The password field must show an error when the token is missing,
and the secret of a good review is patience. Forgot your password? Reset it: the link is valid for 24 hours.
We agreed that basic authentication goes away and that bearer tokens stay. Key findings: 3 of 12 tests failed.""",
    "german": """
Bitte schreibe eine Nachricht für das Anmeldeformular. Das Passwort ist zu kurz, wenn es weniger als acht Zeichen hat.
Passwort vergessen? Setze es zurück: der Verweis gilt 24 Stunden. Das Geheimnis ist Geduld.""",
    "french": """
Écris un message pour le formulaire de connexion. Le mot de passe est trop court s'il a moins de huit caractères.
Mot de passe oublié ? Le lien est valable vingt-quatre heures. Le secret est la patience.""",
    "spanish": """
Escribe un mensaje para el formulario de acceso. La contraseña es demasiado corta si tiene menos de ocho caracteres.
¿Olvidaste la contraseña? El enlace es válido durante 24 horas. El secreto es la paciencia.""",
    "portuguese": """
Escreva uma mensagem para o formulário. A senha é curta demais se tiver menos de oito caracteres.
Esqueceu a senha? O link vale por 24 horas. O segredo é a paciência.""",
    "italian": """
Scrivi un messaggio per il modulo. La parola è troppo corta se ha meno di otto lettere. In una parola: pazienza.
Il collegamento vale per 24 ore.""",
    "russian": """
Напиши сообщение для формы входа. Пароль слишком короткий, если в нём меньше восьми знаков.
Забыли пароль? Ссылка действует 24 часа. Секрет в терпении.""",
    "chinese": """
请为登录表单写一条提交信息。密码太短，至少需要八个字符。忘记密码？链接在24小时内有效。秘诀是耐心。""",
    "japanese": """
ログインフォームのコミットメッセージを書いてください。
パスワードは八文字以上にしてください。リンクは24時間有効です。""",
    "korean": """
로그인 양식에 대한 커밋 메시지를 작성해 주세요.
비밀번호는 여덟 글자 이상이어야 합니다. 링크는 24시간 동안 유효합니다.""",
    "arabic": """
اكتب رسالة لنموذج تسجيل الدخول.
كلمة المرور قصيرة جدا إذا كانت أقل من ثمانية أحرف. الرابط صالح لمدة ٢٤ ساعة.""",
}
