from collections.abc import Iterator

import pytest

from tests.needs import need
from tests.references import moto


@pytest.fixture(scope="session")
def moto_endpoint() -> Iterator[str]:
    """moto's server: CloudFormation, DynamoDB, Secrets Manager and the rest of AWS, as far as it has them."""
    need("moto")
    with moto() as reference:
        yield reference.endpoint
