"""The headless browsers that tests can use, each with a profile of its own."""

import contextlib
import shutil
import tempfile

from selenium import webdriver

# The programs that a browser needs, the browser first; one of the names that a line gives is enough.
PROGRAMS = {
    "chromium": [("chromium", "google-chrome"), ("chromedriver",)],
    "firefox": [("firefox-esr", "firefox"), ("geckodriver",)],
}


def missing(name):
    """Returns the names of programs that a browser lacks on this machine."""
    if name not in PROGRAMS:
        raise ValueError(f"there are no tests for the browser {name!r}, only for {', '.join(PROGRAMS)}")
    return [names[0] for names in PROGRAMS[name] if not any(map(shutil.which, names))]


@contextlib.contextmanager
def start(name, width, height, storage=None):
    """Starts a browser; in Firefox, storage limits the bytes that all sites together keep, of which one gets a fifth."""
    if missing(name):
        raise RuntimeError(f"{name} lacks programs: {', '.join(missing(name))}")
    program, service = [next(filter(None, map(shutil.which, names))) for names in PROGRAMS[name]]
    with tempfile.TemporaryDirectory() as profile:
        driver = {"chromium": chromium, "firefox": firefox}[name](program, service, profile, width, height, storage)
        try:
            yield driver
        finally:
            driver.quit()


def chromium(program, service, profile, width, height, _storage):
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--hide-scrollbars", f"--window-size={width},{height}", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(service))


def firefox(program, service, profile, width, height, storage):
    options = webdriver.FirefoxOptions()
    options.binary_location = program
    for flag in "--headless", f"--width={width}", f"--height={height}", "--profile", profile:
        options.add_argument(flag)
    if storage:
        options.set_preference("dom.quotaManager.temporaryStorage.fixedLimit", storage >> 10)
    return webdriver.Firefox(options=options, service=webdriver.FirefoxService(service))
