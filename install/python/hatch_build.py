"""Makes the wheel of one platform: with the program and a kernelspec for it.

WHEEL_VERSION is the version, WHEEL_FILES a folder with bin/quern and share/jupyter, and
WHEEL_PLATFORM the platform tag, such as manylinux_2_17_x86_64. Without them the wheel has
only the Python package, for a quern that is installed otherwise.
"""

import os
import pathlib

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

version = os.environ.get("WHEEL_VERSION", "0.1.0.dev0")


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        files = os.environ.get("WHEEL_FILES")
        if self.target_name != "wheel" or not files:
            return
        root = pathlib.Path(files).resolve()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['WHEEL_PLATFORM']}"
        for program in (root / "bin").iterdir():
            build_data["shared_scripts"][str(program)] = program.name
        build_data["shared_data"][str(root / "share")] = "share"
