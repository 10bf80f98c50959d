"""The headless browsers that tests can use, each with a profile of its own."""

import contextlib
import glob
import os
import shutil
import subprocess
import tempfile

from selenium import webdriver

# The programs that a browser needs, the browser first; one of the names that a line gives is enough.
PROGRAMS = {
    "chromium": [("chromium", "google-chrome"), ("chromedriver",)],
    "firefox": [("firefox-esr", "firefox"), ("geckodriver",)],
    # The engine of Safari in the browser of WebKitGTK, which needs a display.
    "webkit": [("MiniBrowser",), ("WebKitWebDriver",), ("Xvfb",)],
}


def find(names):
    """Returns the path of the first program that is installed, or None."""
    # Debian has MiniBrowser in no folder of PATH.
    return next(filter(None, map(shutil.which, names)), None) or next(
        (path for n in names for path in sorted(glob.glob(f"/usr/lib/*/webkit*gtk-*/{n}"), reverse=True)), None)


def missing(name):
    """Returns the names of programs that a browser lacks on this machine."""
    if name not in PROGRAMS:
        raise ValueError(f"there are no tests for the browser {name!r}, only for {', '.join(PROGRAMS)}")
    return [names[0] for names in PROGRAMS[name] if not find(names)]


@contextlib.contextmanager
def start(name, width, height, storage=None, extra=()):
    """Starts a browser with extra flags of Chromium, instead of --disable-gpu, or preferences that Firefox enables.

    In Firefox, storage limits the bytes that all sites together keep, of which one gets a fifth. In Chromium, only 0 has an
    effect: sites keep nothing.
    """
    if missing(name):
        raise RuntimeError(f"{name} lacks programs: {', '.join(missing(name))}")
    program, service = map(find, PROGRAMS[name][:2])
    if name == "webkit":
        with display(width, height) as number:
            driver = webkit(program, service, width, height, number)
            try:
                yield driver
            finally:
                driver.quit()
        return
    with tempfile.TemporaryDirectory() as profile:
        driver = {"chromium": chromium, "firefox": firefox}[name](program, service, profile, width, height, storage, extra)
        try:
            yield driver
        finally:
            driver.quit()


def chromium(program, service, profile, width, height, storage, extra):
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in ("--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--hide-scrollbars", f"--window-size={width},{height}", f"--user-data-dir={profile}", *(extra or ["--disable-gpu"])):
        options.add_argument(flag)
    if storage == 0:
        options.add_experimental_option("prefs", {"profile.default_content_setting_values.cookies": 2})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(service))


def firefox(program, service, profile, width, height, storage, extra):
    options = webdriver.FirefoxOptions()
    options.binary_location = program
    for flag in "--headless", f"--width={width}", f"--height={height}", "--profile", profile:
        options.add_argument(flag)
    for name in extra:
        options.set_preference(name, True)
    if storage:
        options.set_preference("dom.quotaManager.temporaryStorage.fixedLimit", storage >> 10)
    return webdriver.Firefox(options=options, service=webdriver.FirefoxService(service))


@contextlib.contextmanager
def display(width, height):
    """Starts an X server without a screen; returns its number."""
    end, start_of_pipe = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(start_of_pipe), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
                              pass_fds=[start_of_pipe], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(start_of_pipe)
    try:
        with open(end) as numbers:
            yield numbers.readline().strip()
    finally:
        server.terminate()
        server.wait(20)


def webkit(program, service, width, height, number):
    options = webdriver.WebKitGTKOptions()
    options.binary_location = program
    options.set_capability("browserName", "MiniBrowser")
    options.add_argument("--automation")
    driver = webdriver.WebKitGTK(options=options, service=webdriver.WebKitGTKService(service, env={**os.environ, "DISPLAY": f":{number}"}))
    driver.set_window_rect(0, 0, width, height)
    return driver
