"""Each test fails on a warning that it does not expect."""

import pytest


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "error")


@pytest.fixture
def refused():
    """Calls and gives the error that must come, with the code expected."""
    import tegula

    def call(code, function, *arguments, **options):
        with pytest.raises(tegula.Error) as caught:
            function(*arguments, **options)
        assert caught.value.code == code, str(caught.value)
        assert str(caught.value).startswith(f"error[{code}]: ")
        return str(caught.value)

    return call
