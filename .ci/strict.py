"""A plugin of pytest: a skipped test fails where QUERN_TEST_STRICT is set, as in CI."""

import os

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.skipped and os.environ.get("QUERN_TEST_STRICT"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} skips itself, and QUERN_TEST_STRICT is set: {call.excinfo.value if call.excinfo else ''}"
    return report
