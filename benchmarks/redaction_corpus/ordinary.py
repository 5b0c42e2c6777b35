# ruff: noqa: E501 - whole lines, as people paste them
"""What a redactor has to leave alone: digests, identifiers, lock files, code that speaks of passwords, prose, placeholders."""

from __future__ import annotations

import base64
import uuid
from dataclasses import dataclass

from benchmarks.redaction_corpus.secrets import ALNUM, BASE64, HEX, LOWER, UPPER, Noise


@dataclass(frozen=True)
class Ordinary:
    kind: str
    text: str


def _uuid(noise: Noise) -> str:
    return str(uuid.UUID(int=noise.random.getrandbits(128), version=4))


def _git(noise: Noise) -> str:
    commits = [
        f"commit {noise.of(HEX, 40)}\nMerge: {noise.of(HEX, 7)} {noise.of(HEX, 7)}\nAuthor: Ada <ada@example.org>\n"
        f"Date:   Mon Mar 2 10:0{n}:00 2026 +0100\n\n    Rotate the signing key and forget the old token\n"
        for n in range(5)
    ]
    return (
        "\n".join(commits)
        + f"\nindex {noise.of(HEX, 7)}..{noise.of(HEX, 7)} 100644\nHEAD detached at {noise.of(HEX, 12)}"
    )


def _package_lock(noise: Noise) -> str:
    rows = [
        f'    "node_modules/{name}": {{\n      "version": "4.1.{n}",\n'
        f'      "resolved": "https://registry.example.org/{name}/-/{name}-4.1.{n}.tgz",\n'
        f'      "integrity": "sha512-{noise.of(BASE64, 86)}=="\n    }},'
        for n, name in enumerate(("js-tokens", "password-prompt", "secret-handshake", "keyv", "jsonwebtoken", "csrf"))
    ]
    return "\n".join(rows)


def _cargo_lock(noise: Noise) -> str:
    return "\n".join(
        f'[[package]]\nname = "{name}"\nversion = "1.0.{n}"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n'
        f'checksum = "{noise.of(HEX, 64)}"\n'
        for n, name in enumerate(("secrecy", "keyring", "token-bucket", "serde"))
    )


def _python_lock(noise: Noise) -> str:
    rows = [
        f'    {{file = "tokenizers-0.15.{n}-cp311-cp311-manylinux_2_17_x86_64.whl", hash = "sha256:{noise.of(HEX, 64)}"}},'
        for n in range(6)
    ]
    return (
        "files = [\n"
        + "\n".join(rows)
        + f'\n]\ncontent-hash = "{noise.of(HEX, 64)}"\n--hash=sha256:{noise.of(HEX, 64)}'
    )


def _go_sum(noise: Noise) -> str:
    return "\n".join(
        f"github.com/x/{name} v1.2.{n} h1:{noise.of(BASE64, 43)}="
        for n, name in enumerate(("oauth2", "keys", "crypto"))
    )


def _containers(noise: Noise) -> str:
    return (
        f"FROM registry.example.org/base@sha256:{noise.of(HEX, 64)}\n"
        f"CONTAINER ID   IMAGE          STATUS\n{noise.of(HEX, 12)}   postgres:16    Up 3 hours\n"
        f"pod/api-{noise.of(LOWER, 10)}-{noise.of(LOWER, 5)}   1/1   Running   0   4d\n"
        f"Digest: sha256:{noise.of(HEX, 64)}\nkubectl delete pod auth-service-{noise.of(LOWER, 9)}-{noise.of(LOWER, 5)}"
    )


def _identifiers(noise: Noise) -> str:
    return (
        f"sessionId: {_uuid(noise)}\nrequest_id={_uuid(noise)} trace_id={noise.of(HEX, 32)} span_id={noise.of(HEX, 16)}\n"
        f"parentUuid {_uuid(noise)}\nmsg_01{noise.of(ALNUM, 22)} toolu_01{noise.of(ALNUM, 22)} req_011{noise.of(ALNUM, 21)}\n"
        f'ETag: "{noise.of(HEX, 32)}"\narn:aws:iam::123456789012:role/deploy\nvpc-{noise.of(HEX, 17)} i-{noise.of(HEX, 17)}\n'
        f"/nix/store/{noise.of(LOWER, 32)}-openssl-3.0.13\nchunk-{noise.of(ALNUM, 8)}.js main.{noise.of(HEX, 8)}.css\n"
        f"https://youtu.be/{noise.of(ALNUM, 11)} https://docs.google.com/document/d/{noise.of(ALNUM, 44)}/edit\n"
        f"00:1b:44:11:3a:b7 fe80::1ff:fe23:4567:890a 1HGCM82633A004352 DE89370400440532013000\n"
        f"md5 {noise.of(HEX, 32)} sha1 {noise.of(HEX, 40)} sha256 {noise.of(HEX, 64)}\n"
        f"ORDER-{noise.of(UPPER, 10)} build {noise.of(HEX, 8)} {noise.of(ALNUM, 20)}"
    )


def _image(noise: Noise) -> str:
    data = base64.b64encode(noise.random.randbytes(600)).decode()
    return (
        f'<img alt="logo" src="data:image/png;base64,{data}">\nbackground: url(data:image/svg+xml;base64,{data[:200]})'
    )


def _public_keys(noise: Noise) -> str:
    body = "\n".join(noise.of(BASE64, 64) for _ in range(5))
    return (
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{noise.of(BASE64, 44)} me@host\n"
        f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n"
        f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n"
        f"SHA256:{noise.of(BASE64, 43)} me@host (ED25519)"
    )


CODE = """
import os, secrets
API_KEY = os.environ["OPENAI_API_KEY"]
password = getpass.getpass("Password: ")
token = request.headers.get("Authorization", "").removeprefix("Bearer ")
secret = settings.SECRET_KEY
def login(username: str, password: str, *, token: str | None = None) -> Session: ...
max_tokens=2048, temperature=0.0, stop_token_id=eos_token_id, pad_token="<pad>"
client = OpenAI(api_key=api_key, base_url=base_url)
if not user.check_password(form.password.data): raise InvalidCredentials("wrong password")
tokens = tokenizer.encode(text); keys = sorted(mapping.keys()); key = lambda row: row["created_at"]
self.password_hash = generate_password_hash(password, method="scrypt")
monkeyPatch.setattr(auth, "verify_token", lambda token: True)
PASSWORD_MIN_LENGTH = 12
password_field = forms.CharField(widget=forms.PasswordInput, label="Password")
csrf_token: "{{ csrf_token }}"
const token = await getAccessToken({ audience, scope: "read:users" });
const { password, ...rest } = user; return rest;
process.env.STRIPE_SECRET_KEY ?? throwMissing("STRIPE_SECRET_KEY")
interface Props { apiKey: string; onPasswordChange(value: string): void; tokenType?: "bearer" }
type Token struct { Kind TokenKind; Literal string; Pos token.Pos }
func NewClient(apiKey string, opts ...Option) (*Client, error) {
fn parse_token(&mut self) -> Result<Token, ParseError> { self.expect(TokenKind::Ident)? }
let secret = Secret::new(String::from_utf8_lossy(&bytes).into_owned());
CREATE USER app WITH PASSWORD :'app_password'; SELECT id, password_digest FROM users WHERE reset_token = $1;
ALTER TABLE sessions ADD COLUMN access_token_expires_at timestamptz;
.password-toggle:hover { color: #ff00aa; } .btn--primary-token { margin: 0 }
echo "${GITHUB_TOKEN:?set GITHUB_TOKEN}" | gh auth login --with-token
docker run -e POSTGRES_PASSWORD="$POSTGRES_PASSWORD" -p 5432:5432 postgres:16
password: ${{ secrets.REGISTRY_PASSWORD }}
  token: !Ref TokenParameter
secretKeyRef: {name: db-credentials, key: password}
api_key: <YOUR_API_KEY>
API_KEY=your-api-key-here
PASSWORD=changeme
TOKEN=xxxxxxxxxxxxxxxxxxxx
OPENAI_API_KEY=sk-...
postgres://user:password@localhost:5432/db
https://user:pass@example.com/
mysql -u root -p shop
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
curl -u "$USER:$PASS" https://example.org
git config --global credential.helper store
ssh -i ~/.ssh/id_ed25519 deploy@host.example.org
aws s3 cp s3://bucket/path/to/very-long-object-name-2026-01-01.tar.gz .
tests/test_password_reset_token_generator.py::TestPasswordResetTokenGenerator::test_token_is_single_use PASSED
at com.example.security.JwtAuthenticationTokenFilter.doFilterInternal(JwtAuthenticationTokenFilter.java:57)
java.lang.IllegalArgumentException: secret must not be empty
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
TypeError: Cannot read properties of undefined (reading 'accessToken')
self.assertEqual(response.json()["token_type"], "bearer")
this.currentUserSubscriptionRenewalReminderDispatcherFactory = createSubscriptionRenewalReminderDispatcher();
!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?module.exports=t():e.Key=t()}(this,function(){return 0});
author = "Grace"; key = "title"; secretary = "Miss Lemon"; passenger = "Hastings"; keyboard = "qwertz"; monkey: banana42
pass: 14, fail: 2, skip: 1
key: value
primary_key: order_id
sort_key = created_at_descending
token_count: 183204
public_key_fingerprint: none
cache_key = f"{user_id}:{locale}:{version}"
auth: none
"""

PROSE: dict[str, str] = {
    "english": """Please write release notes for the password reset flow. The password must be at least twelve characters long and the
token expires after one hour. A secret santa list is not a secret. The key idea: tokens are refilled at a constant rate, as in a
token bucket. Bearer tokens are passed in the Authorization header; basic auth is off. My password is wrong, what can I do? The key is
under the doormat. Passwords: never store them in plain text. Token: the smallest unit that a model reads. The API key is missing from
the environment, so set it first. Pass: the test ran. He passed away in 1987; the author's pass-through costs rose by 12.5 %.""",
    "german": """Bitte schreibe eine Anleitung zum Zurücksetzen des Passworts. Das Passwort muss mindestens zwölf Zeichen lang sein.
Passwort vergessen? Der Schlüssel liegt unter der Matte. Donaudampfschifffahrtsgesellschaftskapitän ist ein langes Wort, ebenso
Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz. Kennwort: bitte ändern. Das Token ist abgelaufen und wird erneuert.""",
    "french": """Rédige un guide pour réinitialiser le mot de passe. Le mot de passe est trop court. La clé du succès : la patience.
Mot de passe oublié ? Le jeton expire après une heure. Le mot de passe : au moins douze caractères. La clé API est manquante.""",
    "spanish": """Escribe una guía para restablecer la contraseña. La contraseña es demasiado corta. La clave del éxito: la paciencia.
¿Olvidaste tu contraseña? El token caduca en una hora. Contraseña: debe tener doce caracteres. La clave es obligatoria.""",
    "portuguese": """Escreva um guia para redefinir a senha. A senha é muito curta. A chave do sucesso: paciência. Esqueceu a senha?
O token expira em uma hora. Senha: deve ter pelo menos doze caracteres. A chave é obrigatória para continuar.""",
    "italian": """Scrivi una guida per reimpostare la password. La password è troppo corta. La chiave del successo: la pazienza.
Password dimenticata? Il token scade dopo un'ora. Password: almeno dodici caratteri. La parola d'ordine era coraggio.""",
    "russian": """Напиши инструкцию по сбросу пароля. Пароль слишком короткий. Ключ к успеху: терпение. Забыли пароль? Токен истекает
через час. Пароль: не менее двенадцати символов. Ключ лежит под ковриком. Достопримечательности города открыты ежедневно.""",
    "chinese": """请写一份重置密码的指南。 密码太短了。 成功的关键：耐心。 忘记密码？ 令牌一小时后过期。 密码：至少十二个字符。 钥匙在门垫下面。
密钥是必填项。 密码是必需的，不能为空。 我们的令牌桶算法以恒定速率补充令牌。""",
    "japanese": """パスワードをリセットする手順を書いてください。 パスワードは短すぎます。 成功の鍵：忍耐。 パスワードをお忘れですか？
トークンは一時間で期限切れになります。 パスワード：十二文字以上。 APIキーは必須です。 鍵はマットの下にあります。""",
    "korean": """비밀번호를 재설정하는 안내서를 작성해 주세요. 비밀번호가 너무 짧습니다. 성공의 열쇠: 인내. 비밀번호를 잊으셨나요?
토큰은 한 시간 후에 만료됩니다. 비밀번호: 열두 자 이상. 열쇠는 매트 아래에 있습니다.""",
    "polish": """Napisz instrukcję resetowania hasła. Hasło jest za krótkie. Klucz do sukcesu: cierpliwość. Nie pamiętasz hasła?
Token wygasa po godzinie. Hasło: co najmniej dwanaście znaków. Konstantynopolitańczykowianeczka to długie słowo.""",
    "turkish": """Parola sıfırlama için bir kılavuz yaz. Parola çok kısa. Başarının anahtarı: sabır. Parolanızı mı unuttunuz?
Belirtecin süresi bir saat sonra doluyor. Parola: en az on iki karakter. Anahtar paspasın altında.""",
}


def texts(noise: Noise) -> list[Ordinary]:
    """All of it once; lock files and digests with fresh noise."""
    return [
        Ordinary("git", _git(noise)),
        Ordinary("package-lock", _package_lock(noise)),
        Ordinary("cargo lock", _cargo_lock(noise)),
        Ordinary("python lock", _python_lock(noise)),
        Ordinary("go.sum", _go_sum(noise)),
        Ordinary("containers", _containers(noise)),
        Ordinary("identifiers", _identifiers(noise)),
        Ordinary("base64 image", _image(noise)),
        Ordinary("public keys", _public_keys(noise)),
        Ordinary("code", CODE),
        *(Ordinary(f"prose: {language}", text) for language, text in PROSE.items()),
    ]
