"""Credentials of a role of AWS that another profile may assume, by a signed request to STS."""

from __future__ import annotations

import hashlib
import hmac
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from zarrix._stores.remote.credential_values import UnusableCredentials
from zarrix._stores.remote.sources.aws_files import Profile
from zarrix._stores.remote.sources.web import answer_of

__all__ = ["VARIABLES", "credentials_of_role"]

VARIABLES = ("AWS_ENDPOINT_URL_STS",)


def credentials_of_role(
    profile: Profile, source: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, Any]:
    """Credentials of the role that ``profile`` names, for the holder of ``source``.

    Raises
    ------
    UnusableCredentials
        The role needs a code of a device, or STS refuses.
    """
    if profile.get("mfa_serial"):
        raise UnusableCredentials(
            "names a role that needs a code of a device (mfa_serial): pass a function that returns "
            "credentials as storage_options={'credentials': function}"
        )
    region = profile.get("region") or environment.get("AWS_REGION") or "us-east-1"
    session = profile.get("role_session_name") or f"zarrix-{time.time_ns()}"
    asked = {
        "Action": "AssumeRole",
        "Version": "2011-06-15",
        "RoleArn": profile.values["role_arn"],
        "RoleSessionName": session,
        "DurationSeconds": profile.get("duration_seconds"),
        "ExternalId": profile.get("external_id"),
    }
    body = urllib.parse.urlencode({name: value for name, value in asked.items() if value}).encode()
    url = environment.get(VARIABLES[0]) or f"https://sts.{region}.amazonaws.com"
    url = f"{url.rstrip('/')}/"
    status, _, answer = answer_of(url, _signed(url, body, region, source), body)
    try:
        found = {
            element.tag.rpartition("}")[2]: element.text
            for element in ElementTree.fromstring(answer).iter()
        }
    except ElementTree.ParseError:
        found = {}
    if status != 200:
        code = found.get("Code") or "no reason"
        raise UnusableCredentials(f"may not assume its role: STS answered {status} ({code})")
    names = ("AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration")
    return {name: found.get(name) for name in names}


def _signed(url: str, body: bytes, region: str, source: Mapping[str, str]) -> dict[str, str]:
    """The headers of a request that is signed by version 4 of AWS' signatures."""
    now = datetime.now(UTC)
    date, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    headers = {
        "content-type": "application/x-www-form-urlencoded; charset=utf-8",
        "host": urllib.parse.urlsplit(url).netloc,
        "x-amz-date": date,
    }
    if source.get("token"):
        headers["x-amz-security-token"] = source["token"]
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    digest = hashlib.sha256(body).hexdigest()
    path = urllib.parse.quote(urllib.parse.urlsplit(url).path)
    request = f"POST\n{path}\n\n{lines}\n{names}\n{digest}"
    scope = f"{day}/{region}/sts/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = f"AWS4{source['secret']}".encode()
    for part in (day, region, "sts", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    credential = f"Credential={source['key']}/{scope}"
    signed = f"AWS4-HMAC-SHA256 {credential}, SignedHeaders={names}, Signature={signature}"
    return {**headers, "Authorization": signed}
