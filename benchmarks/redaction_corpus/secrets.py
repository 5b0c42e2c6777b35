"""The secrets: those that show by their shape (`tokens`) and those that only their surroundings betray (`carriers`)."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


@dataclass(frozen=True)
class Secret:
    """`text` is what a person pastes; of it, no eight characters in a row of `core` may survive."""

    kind: str
    text: str
    core: str


class Noise:
    """Seeded noise over the alphabets that vendors use."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        """Mixed like real keys: the first characters cover the alphabet's classes."""
        classes = [
            part
            for part in (string.ascii_lowercase, string.ascii_uppercase, string.digits)
            if set(part) & set(alphabet)
        ]
        sure = [self.random.choice([char for char in part if char in alphabet]) for part in classes][:length]
        rest = [self.random.choice(alphabet) for _ in range(length - len(sure))]
        chars = sure + rest
        self.random.shuffle(chars)
        if not chars[0].isalnum():  # a leading or trailing sign would change where a word ends
            chars[0] = "k"
        if not chars[-1].isalnum():
            chars[-1] = "7"
        return "".join(chars)

    def password(self) -> str:
        """As people make them: a word, signs, digits."""
        word = self.random.choice("Mangrove Tortuga Bluebird Kestrel Winterjas Ostseebad Patagon Kumquat".split())
        return f"{word}{self.random.choice('!#_-.*')}{self.of(string.digits, 3)}{self.of(string.ascii_letters, 2)}"

    def segments(self, *lengths: int, alphabet: str = URLSAFE) -> list[str]:
        return [self.of(alphabet, length) for length in lengths]


# kind, public prefix, alphabet, length of the noise
PREFIXED: tuple[tuple[str, str, str, int], ...] = (
    ("aws access key id", "AKIA", string.ascii_uppercase + "234567", 16),
    ("aws temporary key id", "ASIA", string.ascii_uppercase + "234567", 16),
    ("google api key", "AIza" + "Sy", URLSAFE, 33),
    ("google oauth client secret", "GOC" + "SPX-", URLSAFE, 28),
    ("google oauth access token", "ya" + "29.a0", URLSAFE, 160),
    ("google refresh token", "1/" + "/0", URLSAFE, 60),
    ("anthropic api key", "sk-" + "ant-api03-", URLSAFE, 93),
    ("anthropic oauth token", "sk-" + "ant-oat01-", URLSAFE, 93),
    ("openai legacy key", "sk" + "-", ALNUM, 48),
    ("openai project key", "sk-" + "proj-", URLSAFE, 124),
    ("openai service account key", "sk-" + "svcacct-", URLSAFE, 100),
    ("openrouter key", "sk-" + "or-v1-", HEX, 64),
    ("deepseek key", "sk" + "-", HEX, 32),
    ("groq key", "gs" + "k_", ALNUM, 52),
    ("replicate token", "r8" + "_", ALNUM, 37),
    ("perplexity key", "pp" + "lx-", ALNUM, 48),
    ("xai key", "xa" + "i-", ALNUM, 80),
    ("nvidia key", "nv" + "api-", URLSAFE, 64),
    ("fireworks key", "fw" + "_", ALNUM, 24),
    ("hugging face token", "hf" + "_", string.ascii_letters, 34),
    ("github classic token", "gh" + "p_", ALNUM, 36),
    ("github oauth token", "gh" + "o_", ALNUM, 36),
    ("github server token", "gh" + "s_", ALNUM, 36),
    ("github fine-grained token", "github" + "_pat_11A", ALNUM, 75),
    ("gitlab token", "gl" + "pat-", URLSAFE, 20),
    ("gitlab runner token", "gl" + "rt-", URLSAFE, 20),
    ("gitlab deploy token", "gl" + "dt-", URLSAFE, 20),
    ("npm token", "np" + "m_", ALNUM, 36),
    ("pypi token", "pypi-" + "AgEIcHlwaS5vcmc", URLSAFE, 150),
    ("rubygems key", "ruby" + "gems_", HEX, 48),
    ("crates.io token", "ci" + "o", ALNUM, 32),
    ("docker token", "dckr" + "_pat_", URLSAFE, 27),
    ("stripe secret key", "sk_" + "live_", ALNUM, 99),
    ("stripe test key", "sk_" + "test_", ALNUM, 24),
    ("stripe restricted key", "rk_" + "live_", ALNUM, 99),
    ("stripe webhook secret", "wh" + "sec_", ALNUM, 32),
    ("shopify token", "shp" + "at_", HEX, 32),
    ("square token", "EA" + "AAE", URLSAFE, 59),
    ("databricks token", "da" + "pi", HEX, 32),
    ("digitalocean token", "dop" + "_v1_", HEX, 64),
    ("linear key", "lin" + "_api_", ALNUM, 40),
    ("notion token", "nt" + "n_", ALNUM, 46),
    ("figma token", "fig" + "d_", URLSAFE, 40),
    ("atlassian token", "ATATT" + "3xFfGF0", URLSAFE, 180),
    ("grafana service token", "gl" + "sa_", ALNUM, 32),
    ("new relic key", "NR" + "AK-", UPPER, 27),
    ("sentry token", "sntr" + "ys_", BASE64, 120),
    ("doppler token", "dp" + ".pt.", ALNUM, 43),
    ("vault token", "hv" + "s.", URLSAFE, 90),
    ("supabase token", "sb" + "p_", HEX, 40),
    ("postman key", "PM" + "AK-", HEX, 24),
    ("netlify token", "nf" + "p_", ALNUM, 36),
    ("planetscale token", "pscale" + "_tkn_", URLSAFE, 43),
    ("age secret key", "AGE-SECRET" + "-KEY-1", string.ascii_uppercase.replace("B", "") + "023456789", 58),
    ("dropbox token", "sl" + ".", URLSAFE, 130),
    ("mailgun key", "key" + "-", HEX, 32),
    ("langsmith key", "lsv2" + "_pt_", HEX, 32),
    ("brevo key", "xkey" + "sib-", HEX, 64),
    ("pulumi token", "pu" + "l-", HEX, 40),
    ("azure client secret", "Q1s8" + "Q~", ALNUM, 34),
    ("tailscale key", "tskey" + "-auth-k", ALNUM, 40),
    ("buildkite token", "bk" + "ua_", HEX, 40),
)


def tokens(noise: Noise) -> list[Secret]:
    """One of each kind that shows by its shape."""
    found = []
    for kind, prefix, alphabet, length in PREFIXED:
        core = noise.of(alphabet, length)
        found.append(Secret(kind, prefix + core, core))
    return [*found, *_composed(noise)]


def _composed(noise: Noise) -> list[Secret]:
    def joined(kind: str, text: str, core: str) -> Secret:
        return Secret(kind, text, core)

    bot, bot_tail = noise.of(string.digits, 10), noise.of(URLSAFE, 33)
    slack = noise.of(ALNUM, 24)
    app = noise.of(HEX, 64)
    sendgrid_id, sendgrid = noise.segments(22, 43)
    mailchimp = noise.of(HEX, 32)
    discord_id, discord_time, discord = noise.segments(26, 6, 38)
    terraform_id, terraform = noise.of(ALNUM, 14), noise.of(ALNUM, 67)
    payload = _b64({"sub": noise.of(LOWER, 12), "exp": 1790000000})
    signature = noise.of(URLSAFE, 43)
    hook = noise.of(ALNUM, 24)
    discord_hook = noise.of(URLSAFE, 68)
    twilio = noise.of(HEX, 32)
    return [
        joined(
            "slack bot token", f"xox{'b'}-{noise.of(string.digits, 12)}-{noise.of(string.digits, 12)}-{slack}", slack
        ),
        joined(
            "slack user token",
            f"xox{'p'}-{noise.of(string.digits, 12)}-{noise.of(string.digits, 12)}-{app[:32]}",
            app[:32],
        ),
        joined("slack app token", f"xa{'pp'}-1-A{noise.of(UPPER, 10)}-{noise.of(string.digits, 13)}-{app}", app),
        joined(
            "slack webhook",
            f"https://hooks.slack{'.com/services'}/T{noise.of(UPPER, 8)}/B{noise.of(UPPER, 10)}/{hook}",
            hook,
        ),
        joined(
            "discord webhook",
            f"https://discord{'.com/api'}/webhooks/{noise.of(string.digits, 18)}/{discord_hook}",
            discord_hook,
        ),
        joined("discord bot token", f"MT{discord_id[2:]}.{discord_time}.{discord}", discord),
        joined("telegram bot token", f"{bot}:AA{bot_tail}", bot_tail),
        joined("sendgrid key", f"S{'G'}.{sendgrid_id}.{sendgrid}", sendgrid),
        joined("mailchimp key", f"{mailchimp}-us{12}", mailchimp),
        joined("terraform cloud token", f"{terraform_id}.atlas{'v1'}.{terraform}", terraform),
        joined("jwt", f"ey{_b64({'alg': 'HS256', 'typ': 'JWT'})[2:]}.{payload}.{signature}", signature),
        joined("twilio api key", f"S{'K'}{twilio}", twilio),
    ]


def _b64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def private_keys(noise: Noise) -> list[Secret]:
    """PEM and PGP blocks; every line of the body is secret."""
    blocks = []
    for label in ("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"):
        body = [noise.of(BASE64, 64) for _ in range(6)] + [noise.of(BASE64, 30) + "=="]
        text = "\n".join([f"-----{'BEGIN'} {label}-----", *body, f"-----{'END'} {label}-----"])
        blocks.append(Secret(f"pem: {label.lower()}", text, "".join(body)))
    body = [noise.of(BASE64, 64) for _ in range(5)]
    label = "PGP PRIVATE KEY BLOCK"
    text = "\n".join(
        [f"-----{'BEGIN'} {label}-----", "", *body, "=" + noise.of(BASE64, 4), f"-----{'END'} {label}-----"]
    )
    blocks.append(Secret("pgp private key", text, "".join(body)))
    cut = "\n".join([f"-----{'BEGIN'} RSA PRIVATE KEY-----", *(lines := [noise.of(BASE64, 64) for _ in range(4)])])
    blocks.append(Secret("pem cut short", cut, "".join(lines)))
    return blocks


Carrier = Callable[[str], str]

# What a password looks like where people leave it. `{}` is the secret.
PASSWORD_CARRIERS: dict[str, str] = {
    "env file": "APP_ENV=production\nDB_HOST=10.0.0.5\nDB_PASSWORD={}\nDB_PORT=5432",
    "env file, quoted": 'export SMTP_PASSWORD="{}"\nexport SMTP_PORT=587',
    "yaml": "database:\n  user: app\n  password: {}\n  pool: 5",
    "yaml, quoted": "admin:\n  passwd: '{}'",
    "json": '{{"user": "app", "password": "{}", "ssl": true}}',
    "python keyword": 'conn = connect(host="db", user="app", password="{}", timeout=5)',
    "js object": "const cfg = {{ user: 'root', pwd: '{}' }};",
    "java setter": 'dataSource.setPassword("{}");',
    "php array": "'db_password' => '{}',",
    "xml element": "<server><id>nexus</id><password>{}</password></server>",
    "xml attribute": '<add key="SmtpPassword" value="{}" />',
    "toml": '[smtp]\nusername = "bot"\npassword = "{}"',
    "properties": "spring.datasource.password={}",
    "ado.net": "Server=tcp:db.example.net,1433;Database=shop;User Id=sa;Password={};Encrypt=True;",
    "odbc": "DRIVER={{ODBC Driver 18 for SQL Server}};SERVER=db;UID=sa;PWD={}",
    "jdbc": "jdbc:postgresql://db:5432/shop?user=app&password={}&ssl=true",
    "postgres url": "postgresql://app:{}@db.internal:5432/shop",
    "mysql url": "mysql+pymysql://root:{}@127.0.0.1/shop?charset=utf8mb4",
    "mongodb url": "mongodb+srv://app:{}@cluster0.abcde.mongodb.net/?retryWrites=true",
    "redis url": "redis://:{}@cache:6379/0",
    "amqp url": "amqps://worker:{}@mq.internal/vhost",
    "https url": "git clone https://deploy:{}@git.example.org/team/app.git",
    "ftp url": "lftp ftp://www:{}@ftp.example.org",
    "curl user": "curl -s -u admin:{} https://nexus.example.org/service/rest/v1/status",
    "curl user, quoted": "curl --user 'admin:{}' https://nexus.example.org/",
    "mysql flag": "mysql -h db -u root -p{} shop < dump.sql",
    "cli flag": "vault login -method=userpass username=me password={}",
    "cli option": "mytool deploy --password {} --verbose",
    "sshpass": "sshpass -p '{}' ssh root@10.0.0.9",
    "pgpassword": "PGPASSWORD={} psql -h db -U app shop",
    "netrc": "machine api.example.org login me password {}",
    "docker login": "docker login -u me -p {} registry.example.org",
    "form body": "grant_type=password&username=me&password={}",
    "english": "the admin password is {} , please do not share it",
    "english, colon": "Login for staging\nuser: qa\npass: {}\n",
    "chinese": "测试环境的密码：{}，别外传",
    "chinese, is": "数据库密码是 {} 请帮我连接",
    "japanese": "管理者のパスワード：{}",
    "japanese, is": "パスワードは {} です",
    "spanish": "contraseña: {}",
    "spanish, is": "La contraseña es {} y no la compartas",
    "german": "Passwort: {}",
    "german, is": "Das Kennwort lautet {} und gilt bis Freitag",
    "french": "mot de passe : {}",
    "french, is": "Le mot de passe est {} pour le serveur",
    "russian": "пароль={}",
    "russian, is": "Пароль от базы: {}",
    "portuguese": "senha: {}",
    "portuguese, is": "A senha do banco é {} por enquanto",
    "italian": "parola d'ordine / password: {}",
    "korean": "비밀번호: {}",
}

# High-entropy values without a public shape, where a name says what they are.
OPAQUE_CARRIERS: tuple[tuple[str, str, str, int], ...] = (
    ("aws secret key, env", "AWS_SECRET_ACCESS_KEY={}", BASE64, 40),
    ("aws secret key, ini", "[default]\naws_access_key_id = X\naws_secret_access_key = {}", BASE64, 40),
    ("aws secret key, json", '{{"SecretAccessKey": "{}", "Expiration": "2026-01-01T00:00:00Z"}}', BASE64, 40),
    ("aws session token", "AWS_SESSION_TOKEN={}", BASE64, 300),
    (
        "azure account key",
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={}==;EndpointSuffix=core.windows.net",
        BASE64,
        86,
    ),
    (
        "azure service bus",
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}=",
        BASE64,
        43,
    ),
    (
        "azure sas",
        "https://shop.blob.core.windows.net/c/f.csv?sv=2022-11-02&se=2026-12-31&sr=b&sp=r&sig={}%3D",
        ALNUM,
        43,
    ),
    (
        "s3 presigned url",
        "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature={}",
        HEX,
        64,
    ),
    (
        "gcs signed url",
        "https://storage.googleapis.com/b/o?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature={}",
        HEX,
        128,
    ),
    ("cloudfront url", "https://d1.cloudfront.net/f?Expires=1790000000&Signature={}&Key-Pair-Id=K2X", URLSAFE, 120),
    ("bearer header", "Authorization: Bearer {}", URLSAFE, 40),
    ("bearer in curl", 'curl -H "Authorization: Bearer {}" https://api.example.org/v1/me', ALNUM, 32),
    ("bearer in code", 'headers = {{"Authorization": f"Bearer {}"}}', ALNUM, 48),
    ("basic header", "Authorization: Basic {}==", ALNUM, 34),
    ("x-api-key header", "x-api-key: {}", ALNUM, 40),
    ("token header", "Authorization: token {}", HEX, 40),
    ("private token header", "PRIVATE-TOKEN: {}", URLSAFE, 22),
    ("cookie", "Cookie: theme=dark; sessionid={}; lang=en", LOWER, 32),
    ("set-cookie", "Set-Cookie: connect.sid=s%3A{}; Path=/; HttpOnly", URLSAFE, 60),
    ("api key in query", "GET /v1/forecast?q=Berlin&appid=1&api_key={} HTTP/1.1", HEX, 32),
    ("access token in query", "https://graph.example.org/me?access_token={}&fields=id", ALNUM, 80),
    ("cohere key", 'co = cohere.Client(api_key="{}")', ALNUM, 40),
    ("mistral key", "MISTRAL_API_KEY={}", ALNUM, 32),
    ("together key", "TOGETHER_API_KEY: {}", HEX, 64),
    ("datadog key", "DD_API_KEY={}", HEX, 32),
    ("cloudflare token", "CLOUDFLARE_API_TOKEN='{}'", URLSAFE, 40),
    ("heroku key", "HEROKU_API_KEY=01020304-{}-aaaa-bbbb-ccccddddeeee", HEX, 4),
    ("vercel token", "vercel deploy --prod --token {}", ALNUM, 24),
    ("npmrc", "//registry.example.org/:_authToken={}", ALNUM, 36),
    ("npmrc basic", "//registry.example.org/:_auth={}=", ALNUM, 43),
    ("docker config", '{{"auths": {{"registry.example.org": {{"auth": "{}="}}}}}}', ALNUM, 43),
    ("django secret", "SECRET_KEY = 'django-insecure-{}'", ALNUM + "!@#$%^&*(-_=+)", 50),
    ("flask secret", "app.secret_key = b'{}'", ALNUM, 32),
    ("jwt secret", 'JWT_SECRET="{}"', BASE64, 44),
    ("encryption key", "ENCRYPTION_KEY={}=", BASE64, 43),
    ("rails key", "secret_key_base: {}", HEX, 128),
    ("client secret", "client_id=web&client_secret={}&grant_type=client_credentials", URLSAFE, 40),
    ("client secret, json", '{{"clientId": "web", "clientSecret": "{}"}}', URLSAFE, 40),
    ("refresh token, json", '{{"refresh_token": "{}", "expires_in": 3600}}', URLSAFE, 64),
    ("access token, camel", "const accessToken = '{}';", URLSAFE, 48),
    ("k8s secret", "kind: Secret\ndata:\n  api-token: {}=", ALNUM, 43),
    ("webhook secret", 'webhook_secret = "{}"', HEX, 40),
    ("twilio auth token", "TWILIO_AUTH_TOKEN={}", HEX, 32),
    ("sentry dsn", "SENTRY_DSN=https://{}@o123456.ingest.sentry.io/4505", HEX, 32),
    ("wireguard", "[Interface]\nPrivateKey = {}=\nAddress = 10.0.0.2/32", BASE64, 43),
    ("helm set", "helm upgrade app ./chart --set auth.token={}", ALNUM, 32),
    ("github actions", "      env:\n        DEPLOY_TOKEN: {}", ALNUM, 40),
    ("terraform var", 'variable "api_token" {{\n  default = "{}"\n}}', ALNUM, 40),
    ("chinese token", "访问令牌：{}", ALNUM, 40),
    ("chinese key", "我的密钥是{}，帮我看看为什么报错", ALNUM, 32),
    ("japanese key", "APIキーは{}です。", ALNUM, 32),
    ("spanish key", "la clave de la API es {}", ALNUM, 32),
    ("spanish token", "clave_secreta = {}", ALNUM, 32),
    ("german key", "API-Schlüssel: {}", ALNUM, 32),
    ("french key", "clé API : {}", ALNUM, 32),
    ("russian key", "ключ API: {}", ALNUM, 32),
    ("russian token", "токен={}", ALNUM, 40),
    ("portuguese key", "chave da API: {}", ALNUM, 32),
    ("korean key", "API 키: {}", ALNUM, 32),
    ("english key", "here is my api key: {} can you test it?", ALNUM, 32),
    ("english token", "use the token {} for the calls", ALNUM, 40),
    ("english secret", "Our signing secret is {}.", HEX, 40),
)


def carried(noise: Noise) -> list[tuple[str, Secret]]:
    """(carrier, secret in it): what only its surroundings betray."""
    found: list[tuple[str, Secret]] = []
    for name, template in PASSWORD_CARRIERS.items():
        password = noise.password()
        found.append((name, Secret("password", template.format(password), password)))
    for name, template, alphabet, length in OPAQUE_CARRIERS:
        core = noise.of(alphabet, length)
        found.append((name, Secret(name, template.format(core), core)))
    return found
