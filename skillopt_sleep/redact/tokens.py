"""Secrets that show by their own shape: private keys and vendors' tokens.

The formats of vendors' tokens are those that the vendors document for their own secret scanners.
"""

from __future__ import annotations

from skillopt_sleep.redact.kind import GUARD, Kind, token
from skillopt_sleep.redact.values import key_block, mixed, opaque

_FOLD = r"\r?\n[ \t]{0,8}"
_JWT = (
    rf"(?:(?<![\w-])|(?<=\\[nrt]))eyJ[\w-]{{8,2000}}+\.[\w-]{{0,8000}}+(?P<folded>{_FOLD}[\w-]{{1,8000}}+){{0,99}}+"
    rf"\.[\w-]*+(?(folded)(?:{_FOLD}[\w-]{{16,}}+)*+)(?:\.[\w-]+){{0,2}}"
)
"""A token folded over lines by a terminal is followed to its end; after an unfolded one, the next line is kept."""
_MARGIN = r"(?:\s|\\+[nr]|[>+|]|\d{1,6}\t){0,16}"
"""Before a line of a key: what mail, diffs and listings with line numbers put there."""

TOKENS: tuple[Kind, ...] = (
    # Blocks and structured tokens
    Kind(
        "private_key",
        ("-----begin",),
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]{0,20000}+(?:-(?!----)[^-]{0,20000}+){0,64}+"
        rf"-----END [A-Z0-9 ]{{1,60}}-----|(?:{_MARGIN}[A-Za-z0-9+/=]{{16,}}+){{1,2000}}+)",
        key_block,
    ),
    Kind("jwt", ("eyj",), _JWT),
    # AI vendors
    token("anthropic_key", "sk-ant-", r"[\w-]{12,}"),
    token("openrouter_key", "sk-or-", r"[\w-]{20,}"),
    token("openai_key", "sk-proj- sk-svcacct- sk-admin-", r"[\w-]{16,}"),
    token("openai_key", "sk-", r"(?=[A-Za-z0-9]{0,60}\d)[A-Za-z0-9]{20,}"),
    token("huggingface_token", "hf_ api_org_", r"[A-Za-z0-9]{28,}"),
    token("groq_key", "gsk_", r"[A-Za-z0-9]{32,}"),
    token("xai_key", "xai-", r"[A-Za-z0-9]{40,}"),
    token("perplexity_key", "pplx-", r"[A-Za-z0-9]{32,}"),
    token("replicate_token", "r8_", r"[A-Za-z0-9]{32,}"),
    token("nvidia_key", "nvapi-", r"[\w-]{40,}"),
    token("fireworks_key", "fw_", r"[A-Za-z0-9]{22,}", opaque),
    token("langsmith_key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}(?:_[0-9a-f]{10})?"),
    token("pinecone_key", "pcsk_", r"\w{40,}"),
    token("ai_service_key", "sk-lf- csk- tvly- jina_ e2b_ sgp_ esecret_", r"[\w-]{24,}", opaque),
    # Clouds
    token("aws_access_key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    token("aws_bedrock_key", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/]{60,}={0,2}"),
    token("google_api_key", "AIza", r"[\w-]{35}"),
    token("google_oauth_token", "ya29. 1//0", r"[\w.-]{20,}"),
    token("google_oauth_secret", "GOCSPX-", r"[\w-]{20,}"),
    Kind("azure_client_secret", ("8q~",), r"8Q~[\w~.-]{30,}"),
    token("alibaba_key", "LTAI", r"[A-Za-z0-9]{17,}", opaque),
    token("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,}"),
    token("cloudflare_ca_key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    token("databricks_token", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    token("vault_token", "hvs. hvb. hvr.", r"[\w-]{20,}"),
    Kind("terraform_token", (".atlasv1.",), r"\.atlasv1\.[\w-]{40,}"),
    token("pulumi_token", "pul-", r"[0-9a-f]{40}"),
    token("supabase_key", "sbp_ sb_secret_", r"\w{20,}"),
    token("planetscale_token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.-]{20,}"),
    token("fly_token", "fm1_ fm2_ fo1_", r"[\w+/=-]{40,}"),
    token("heroku_key", "HRKU-", r"[\w-]{30,}"),
    token("netlify_token", "nfp_", r"[A-Za-z0-9]{30,}"),
    token("tailscale_key", "tskey-", r"[A-Za-z]{2,12}-[\w-]{16,}"),
    token("age_key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{40,}"),
    # Code hosts and package registries
    token("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,}"),
    token("github_fine_grained_token", "github_pat_", r"\w{20,}"),
    token("gitlab_token", "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent-", r"[\w.-]{16,}"),
    token("npm_token", "npm_", r"[A-Za-z0-9]{30,}"),
    token("pypi_token", "pypi-", r"[\w-]{40,}", opaque),
    token("rubygems_key", "rubygems_", r"[0-9a-f]{40,}"),
    token("crates_token", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])", opaque),
    token("nuget_key", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    token("docker_token", "dckr_pat_ dckr_oat_", r"[\w-]{20,}"),
    token("artifactory_token", "AKCp", r"[A-Za-z0-9]{60,}"),
    token("atlassian_token", "ATATT3 ATCTT3", r"[\w=-]{40,}"),
    token("ci_token", "CCIPAT_ bkua_ glc_ glsa_ sntrys_ sntryu_", r"[\w+/=-]{24,}"),
    token("monitoring_key", "NRAK- dt0c01.", r"[\w.-]{24,}"),
    token("postman_key", "PMAK-", r"[0-9a-f]{24}(?:-[0-9a-f]{34})?"),
    token("doppler_token", "dp.pt. dp.st. dp.ct. dp.sa.", r"[\w.-]{30,}"),
    # Products
    token("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{16,}"),
    token("webhook_secret", "whsec_", r"[A-Za-z0-9+/]{20,}={0,2}"),
    token("slack_token", "xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxe- xoxe. xoxc- xoxd- xapp-", r"[\w.%-]{10,}"),
    Kind(
        "slack_webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/-]{16,})",
    ),
    Kind("discord_webhook", ("/api/webhooks/",), r"/api/webhooks/\d{5,25}/(?P<secret>[\w-]{20,})"),
    Kind(
        "discord_token",
        ("mt", "mj", "mz", "nd", "nt", "nj", "nz", "od", "ot"),  # base64 of a decimal number begins with one of these
        rf"{GUARD}[MNO][TjzD][\w-]{{20,28}}\.[\w-]{{6}}\.[\w-]{{27,}}",
        mixed,
    ),
    Kind("telegram_token", (":aa",), r"(?<=\d{8}):(?P<secret>AA[\w-]{30,})"),
    token("sendgrid_key", "SG.", r"[\w-]{16,80}\.[\w-]{16,}"),
    token("brevo_key", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}(?:-\w{16})?"),
    token("mailgun_key", "key-", r"[0-9a-f]{32}(?![0-9a-f])"),
    Kind("mailchimp_key", ("-us",), r"(?<=(?P<secret>[0-9a-f]{32}))-us\d{1,2}(?![A-Za-z0-9])"),
    token("twilio_key", "SK", r"[0-9a-f]{32}(?![0-9a-f])"),
    token("elevenlabs_key", "sk_", r"[0-9a-f]{40,}"),
    token("shopify_token", "shpat_ shpca_ shppa_ shpss_", r"[0-9A-Fa-f]{32}"),
    token("square_token", "sq0atp- sq0csp- EAAA", r"[\w-]{22,}", opaque),
    token("dropbox_token", "sl.", r"(?:u\.)?[\w-]{100,}", mixed),
    token("linear_key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{30,}"),
    token("notion_token", "ntn_ secret_", r"[A-Za-z0-9]{40,}"),
    token("figma_token", "figd_", r"[\w-]{30,}"),
    token("airtable_token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    token("hubspot_token", "pat-na1- pat-na2- pat-eu1-", r"[0-9a-f-]{36}"),
    token("product_token", "CFPAT- tfp_ shippo_live_ shippo_test_ rdme_ PNU_ pnu_ duffel_live_", r"[\w-]{24,}", opaque),
)
