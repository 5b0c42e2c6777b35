"""Made-up secrets of every kind, put together when asked for, so that no scanner trips over this repository."""

from __future__ import annotations

import base64
import random
import string
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits


def made_up(length: int, alphabet: str = ALNUM, *, seed: int = 7) -> str:
    """A string of the given length that always holds a letter and two digits."""
    return "a7" + "".join(random.Random(seed * 1000 + length).choices(alphabet, k=length - 3)) + "4"


@dataclass(frozen=True)
class Sample:
    """A text with one secret in it."""

    kind: str
    before: str
    secret: str
    after: str = ""

    @property
    def text(self) -> str:
        return f"{self.before}{self.secret}{self.after}"


def _join(*parts: str) -> str:
    return "".join(parts)


TOKENS: tuple[tuple[str, str], ...] = (
    ("anthropic_key", _join("sk", "-ant", "-api03-", made_up(93))),
    ("openrouter_key", _join("sk", "-or", "-v1-", made_up(64, HEX))),
    ("openai_key", _join("sk", "-proj-", made_up(60))),
    ("openai_key", _join("sk", "-", made_up(48))),
    ("huggingface_token", _join("h", "f_", made_up(34))),
    ("groq_key", _join("gs", "k_", made_up(52))),
    ("xai_key", _join("xa", "i-", made_up(80))),
    ("perplexity_key", _join("ppl", "x-", made_up(48))),
    ("replicate_token", _join("r", "8_", made_up(37))),
    ("nvidia_key", _join("nv", "api-", made_up(60))),
    ("langsmith_key", _join("lsv2", "_pt_", made_up(32, HEX), "_", made_up(10, HEX))),
    ("pinecone_key", _join("pc", "sk_", made_up(60))),
    ("aws_access_key", _join("AK", "IA", "Q7" + made_up(15, UPPER).upper()[:14])),
    ("aws_bedrock_key", _join("AB", "SK", made_up(110))),
    ("google_api_key", _join("AI", "za", made_up(35))),
    ("google_oauth_token", _join("ya", "29.", made_up(60))),
    ("google_oauth_secret", _join("GOC", "SPX-", made_up(28))),
    ("azure_client_secret", _join("8", "Q~", made_up(34))),
    ("digitalocean_token", _join("dop", "_v1_", made_up(64, HEX))),
    ("cloudflare_ca_key", _join("v1", ".0-", made_up(24, HEX), "-", made_up(146, HEX))),
    ("databricks_token", _join("da", "pi", made_up(32, HEX))),
    ("vault_token", _join("hv", "s.", made_up(24))),
    ("terraform_token", _join(".atlas", "v1.", made_up(60))),
    ("pulumi_token", _join("pu", "l-", made_up(40, HEX))),
    ("supabase_key", _join("sb", "p_", made_up(40, HEX))),
    ("planetscale_token", _join("pscale", "_tkn_", made_up(43))),
    ("fly_token", _join("fm", "2_", made_up(80))),
    ("tailscale_key", _join("ts", "key-auth-", made_up(30))),
    ("age_key", _join("AGE-SECRET", "-KEY-1", "Q" * 20 + made_up(40, UPPER).upper())),
    ("github_token", _join("gh", "p_", made_up(36))),
    ("github_token", _join("gh", "s_", made_up(36))),
    ("github_fine_grained_token", _join("github", "_pat_", made_up(22), "_", made_up(59))),
    ("gitlab_token", _join("gl", "pat-", made_up(20))),
    ("npm_token", _join("np", "m_", made_up(36))),
    ("pypi_token", _join("py", "pi-", made_up(120))),
    ("rubygems_key", _join("ruby", "gems_", made_up(48, HEX))),
    ("docker_token", _join("dckr", "_pat_", made_up(27))),
    ("atlassian_token", _join("ATA", "TT3", made_up(180))),
    ("ci_token", _join("CC", "IPAT_", made_up(40))),
    ("monitoring_key", _join("NR", "AK-", made_up(27, UPPER))),
    ("postman_key", _join("PM", "AK-", made_up(24, HEX), "-", made_up(34, HEX))),
    ("doppler_token", _join("dp", ".pt.", made_up(43))),
    ("stripe_key", _join("sk", "_live_", made_up(24))),
    ("webhook_secret", _join("wh", "sec_", made_up(32))),
    ("slack_token", _join("xo", "xb-", "123456789012-", made_up(24))),
    ("sendgrid_key", _join("S", "G.", made_up(22), ".", made_up(43))),
    ("mailgun_key", _join("ke", "y-", made_up(32, HEX))),
    ("twilio_key", _join("S", "K", made_up(32, HEX))),
    ("elevenlabs_key", _join("s", "k_", made_up(48, HEX))),
    ("shopify_token", _join("shp", "at_", made_up(32, HEX))),
    ("square_token", _join("sq0", "atp-", made_up(22))),
    ("linear_key", _join("lin", "_api_", made_up(40))),
    ("notion_token", _join("nt", "n_", made_up(46))),
    ("figma_token", _join("fig", "d_", made_up(40))),
    ("airtable_token", _join("pa", "t", made_up(14), ".", made_up(64, HEX))),
    ("fireworks_key", _join("fw", "_", made_up(24))),
    ("ai_service_key", _join("tv", "ly-", made_up(32))),
    ("alibaba_key", _join("LT", "AI5t", made_up(20))),
    ("heroku_key", _join("HR", "KU-", made_up(60))),
    ("netlify_token", _join("nf", "p_", made_up(36))),
    ("crates_token", _join("ci", "o", made_up(32))),
    ("nuget_key", _join("oy", "2", made_up(43, LOWER))),
    ("artifactory_token", _join("AK", "Cp", made_up(69))),
    ("discord_token", _join("MT", "A" + made_up(23) + ".", "GaB" + made_up(3)[:3], ".", "Xy" + made_up(36))),
    ("brevo_key", _join("xkey", "sib-", made_up(64, HEX), "-", made_up(16))),
    ("dropbox_token", _join("sl", ".u.", made_up(120))),
    ("hubspot_token", _join("pat-", "na1-", made_up(8, HEX) + "-1a2b-3c4d-5e6f-" + made_up(12, HEX))),
    ("product_token", _join("CF", "PAT-", made_up(43))),
    ("jwt", _join("ey", "J", made_up(33), ".ey", "J", made_up(60), ".", made_up(43))),
)
"""Secrets that are known by their own shape, wherever they stand."""


def _basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


def _pem(label: str, newline: str = "\n") -> str:
    body = newline.join(made_up(64, seed=n) for n in range(12))
    return newline.join((f"-----BEGIN {label}-----", body, f"-----END {label}-----"))


PASSWORD = "Tr0ub4dor&3"
IN_CONTEXT: tuple[Sample, ...] = (
    Sample("private_key", "key:\n", _pem("RSA PRIVATE" + " KEY"), "\nafter"),
    Sample("private_key", '{"k": "', _pem("PRIVATE" + " KEY", "\\n"), '", "after": 1}'),
    Sample("private_key", '{\\"k\\": \\"', _pem("OPENSSH PRIVATE" + " KEY", "\\\\n"), '\\", \\"after\\": 1}'),
    Sample("private_key", "cut off:\n", _pem("EC PRIVATE" + " KEY").rsplit("\n", 1)[0], "\n\nand then prose"),
    Sample("aws_secret_key", "aws_secret_access_key = ", made_up(38) + "/+", "\nregion = eu-west-1"),
    Sample("aws_secret_key", '"SecretAccessKey": "', made_up(40), '", "Region": "eu-west-1"'),
    Sample("azure_key", "AccountName=files;AccountKey=", made_up(86) + "==", ";EndpointSuffix=core.windows.net"),
    Sample("azure_key", "Endpoint=sb://bus;SharedAccessKey=", made_up(43) + "=", ";EntityPath=q"),
    Sample("slack_webhook", "https://hooks.slack.com/services/", "T01234567/B01234567/" + made_up(24), " is it"),
    Sample("discord_webhook", "https://discord.com/api/webhooks/123456789012345678/", made_up(68), " posts"),
    Sample("telegram_token", "bot 123456789:", "AA" + made_up(33), " answers"),
    Sample("authorization", "Authorization: Bearer ", made_up(40), "\nAccept: */*"),
    Sample("authorization", '{"Authorization": "token ', made_up(40), '"}'),
    Sample("authorization", "-H 'authorization: bearer \\\n    ", made_up(40), "' https://api.example.com"),
    Sample("bearer_token", "send Bearer ", made_up(32), " with it"),
    Sample("bearer_token", "send Bearer\\n", made_up(32), " with it"),
    Sample("basic_auth", "use Basic ", _basic("ann", PASSWORD), " here"),
    Sample("basic_auth", '"auth": "', _basic("ann", PASSWORD), '", "email": "a"'),
    Sample("basic_auth", "curl -u ann:", PASSWORD, " https://example.com"),
    Sample("cookie", "Cookie: ", "sid=" + made_up(32) + "; theme=dark", "\nHost: example.com"),
    Sample("url_password", "postgres://app:", "p4ss%21word", "@db.example.com:5432/app"),
    Sample("url_password", "redis://:", made_up(20), "@cache:6379/0"),
    Sample("signed_url", "https://f.example.com/a?sv=2024&sig=", made_up(43) + "%3D", "&se=2030-01-01"),
    Sample("signed_url", "https://f.example.com/a?sv=2024\\u0026sig=", made_up(43) + "%3D", "\\u0026se=2030"),
    Sample("signed_url", "https://b.s3.amazonaws.com/k?X-Amz-Signature=", made_up(64, HEX), "&x=1"),
    Sample("url_secret", "https://api.example.com/v1?key=", made_up(32), "&page=2"),
    Sample("connection_password", "Server=db;User Id=sa;Password=", "S3cret with words!", ";Database=shop"),
    Sample("connection_password", '"Server=db;Pwd=', "onlyletters", '", 1'),
    Sample("password", "Password: ", PASSWORD.replace("&", "!"), "\nUser: ann"),
    Sample("password", "password:\n  ", "hunter2!x", "\nuser: ann"),
    Sample("password", "db_password: ", "letmeinplease", "\nuser: ann"),
    Sample("password", "my password is ", "hunter2x", ", keep it"),
    Sample("password", '{"password": "', "correct horse battery", '", "user": "ann"}'),
    Sample("password", '{\\"password\\": \\"', "hunter2", '\\", \\"user\\": \\"ann\\"}'),
    Sample("password", '{\\\\\\"password\\\\\\": \\\\\\"', "hunter2", '\\\\\\", \\\\\\"user\\\\\\": 1}'),
    Sample("password", 'const password: string = "', "hunter2x", '";'),
    Sample("password", "'password' => '", "hunter2x", "',"),
    Sample("password", "<password>", "hunter2x", "</password>"),
    Sample("password", "machine git.example.com login ann password ", "hunter2x", "\n"),
    Sample("password", "Das Passwort lautet ", "Geh3imnis!", " und so weiter"),
    Sample("password", "Пароль: ", "Секрет123", " спасибо"),
    Sample("password", "密码：", "hunter2x", "。请保密"),
    Sample("password", "パスワード: ", "hunter2x", " です"),
    Sample("password", "mot de passe : ", "hunter2x", " merci"),
    Sample("password", "Das Kennwort für den Server ist ", "Geh3imnis!", " bis Freitag"),
    Sample("password", "La contraseña de la base es ", "hunter2x", " hoy"),
    Sample("password", 'dataSource.setPassword("', "hunter2x", '");'),
    Sample("password", '<add key="SmtpPassword" value="', "hunter2x", '" />'),
    Sample("password", "mysql -u root -p", "hunter2x", " shop"),
    Sample("password", "sshpass -p '", "hunter2x", "' ssh host"),
    Sample("password", "docker login -u me -p ", "hunter2x", " registry.example.com"),
    Sample("password", "user: ann\npass: ", "hunter2x", "\n"),
    Sample("mailchimp_key", "the key ", made_up(32, HEX), "-us12 is old"),
    Sample("url_password", "SENTRY=https://", made_up(32, HEX), "@o1.example.com/2"),
    Sample("secret", "我的密钥是", made_up(32), "，报错了"),
    Sample("secret", "API-Schlüssel: ", made_up(32), "\nname: x"),
    Sample("secret", "ключ API: ", made_up(32), " спасибо"),
    Sample("secret", "use the token ", made_up(40), " for it"),
    Sample("secret", 'variable "api_token" {\n  default = "', made_up(40), '"\n}'),
    Sample("secret", "<apiKey>", made_up(32), "</apiKey>"),
    Sample("secret", "api_key = '", made_up(32), "'"),
    Sample("secret", "client_secret: ", made_up(40, HEX), "\nid: 1"),
    Sample("secret", 'os.environ["API_KEY"] = "', made_up(32), '"'),
    Sample("secret", 'setenv("SESSION_TOKEN", "', made_up(32), '")'),
    Sample("secret", "deploy --token ", made_up(20), " --region eu"),
    Sample("secret", "the access token is ", made_up(40), " for now"),
    Sample("env_secret", "PORT=80\nJWT_SECRET=", "keyboardcat", "\nDEBUG=1"),
    Sample("env_secret", "export DB_PASS=", "letmein", "\nDEBUG=1"),
)
"""Secrets that are known by what stands around them; what stands around them is kept."""
