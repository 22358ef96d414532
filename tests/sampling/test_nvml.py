"""NVML's counters: the real ``pynvml`` with a stand-in for the driver's library."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pynvml
import pytest

from paddle_lab.sampling.counter import ABSENT
from tests.sampling.counting_process import CountingProcess
from tests.sampling.stand_in_driver import GIB, NAME, StandInDriver

MIB = 1 << 20
LOST = pynvml.NVML_ERROR_GPU_IS_LOST
THREAD = "paddle_lab NVML"


@pytest.fixture
def driver(tmp_path):
    """Two devices."""
    driver = StandInDriver(tmp_path)
    driver.answer(devices=2)
    driver.device(0, used_bytes=3 * GIB + 1, percent=97)
    driver.device(1, used_bytes=0, total_bytes=40 * GIB)
    return driver


def test_two_devices_tell_their_bytes_and_utilisation(driver):
    with CountingProcess(driver.environment) as process:
        assert process.values(3 * GIB + 1, 97, 0, 0) == ["", "", "", ""]
        assert process.tell("names") == [
            ["nvidia:0", "used", 80 * GIB],
            ["nvidia:0", "utilisation", 100],
            ["nvidia:1", "used", 40 * GIB],
            ["nvidia:1", "utilisation", 100],
        ]
        driver.device(1, used_bytes=40 * GIB - 1, percent=100, total_bytes=40 * GIB)
        process.values(3 * GIB + 1, 97, 40 * GIB - 1, 100)


def test_a_driver_before_510_tells_what_it_keeps_for_itself_as_used(tmp_path):
    driver = StandInDriver(tmp_path, is_before_510=True)
    driver.answer(devices=1)
    driver.device(0, used_bytes=GIB, percent=5)
    with CountingProcess(driver.environment) as process:
        process.values(GIB + 600 * MIB, 5)


def test_a_lost_device_is_absent_while_the_other_goes_on_and_is_read_when_it_is_back(driver):
    with CountingProcess(driver.environment) as process:
        process.values(3 * GIB + 1, 97, 0, 0)
        driver.answer({"handle.0": (LOST,)})
        driver.device(1, used_bytes=GIB, percent=1)
        absences = process.values(ABSENT, ABSENT, GIB, 1)
        assert absences == ["Asked about nvidia:0, the NVIDIA driver reports: GPU is lost."] * 2 + [
            "",
            "",
        ]
        # A handle from before a device disappeared is not valid after the device is back.
        driver.answer({"handle.0": (0,)}, epoch=1)
        assert process.values(3 * GIB + 1, 97, GIB, 1) == ["", "", "", ""]


def test_a_part_of_a_device_without_utilisation_keeps_its_memory(driver):
    driver.answer({"utilisation_error.0": (pynvml.NVML_ERROR_NOT_SUPPORTED,)})
    with CountingProcess(driver.environment) as process:
        absences = process.values(3 * GIB + 1, ABSENT, 0, 0)
    assert absences == [
        "",
        "The NVIDIA driver does not report the utilisation of nvidia:0.",
        "",
        "",
    ]


def test_memory_that_may_not_be_asked_for_leaves_the_utilisation(driver):
    driver.answer({"memory_error.0": (pynvml.NVML_ERROR_NO_PERMISSION,)})
    with CountingProcess(driver.environment) as process:
        absences = process.values(ABSENT, 97, 0, 0)
    assert absences[0] == "This user may not ask the NVIDIA driver for device totals."


def test_devices_come_and_go(driver):
    driver.answer(devices=1)
    with CountingProcess(driver.environment) as process:
        process.values(3 * GIB + 1, 97)
        driver.answer(devices=2)
        process.values(3 * GIB + 1, 97, 0, 0)
        driver.answer(devices=1)
        absences = process.values(3 * GIB + 1, 97, ABSENT, ABSENT)
        assert absences[2] == "The NVIDIA driver no longer lists nvidia:1."
        driver.answer(devices=0)
        assert process.sentence("lists no device")[0] == [ABSENT] * 4
        driver.answer(devices=2)
        process.values(3 * GIB + 1, 97, 0, 0)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "The NVIDIA driver is not loaded"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "This user may not ask"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "until the machine is restarted"),
        (pynvml.NVML_ERROR_UNKNOWN, "The NVIDIA driver reports: Unknown Error."),
        (4711, "The NVIDIA driver reports: An unknown error."),
    ],
)
def test_a_driver_that_does_not_begin_says_why_and_is_asked_again(driver, code, words):
    driver.answer(init=code)
    with CountingProcess(driver.environment) as process:
        assert process.sentence(words)[0] == [ABSENT]
        driver.answer(init=0)
        assert process.values(3 * GIB + 1, 97, 0, 0) == ["", "", "", ""]


def test_a_driver_that_ends_for_all_is_begun_with_anew(driver):
    with CountingProcess(driver.environment) as process:
        process.values(3 * GIB + 1, 97, 0, 0)
        process.tell("shut_down")  # by the user's own code, once too often
        driver.device(0, used_bytes=GIB, percent=2)
        process.values(GIB, 2, 0, 0)


def test_without_a_library_there_is_one_absent_counter_and_no_thread(tmp_path):
    with CountingProcess({"LD_LIBRARY_PATH": str(tmp_path)}) as process:
        if shutil.which("nvidia-smi"):
            pytest.skip("this machine has a driver")
        assert process.sentence("no NVIDIA driver")[0] == [ABSENT]
        assert THREAD not in process.tell("threads_after_a_read")


def test_a_file_that_is_no_library_is_no_driver(tmp_path):
    (tmp_path / NAME).write_text("nothing to load")
    with CountingProcess({"LD_LIBRARY_PATH": str(tmp_path)}) as process:
        assert process.sentence("cannot be loaded")[0] == [ABSENT]


def test_a_library_that_lacks_everything_says_what_it_answers(driver):
    empty = driver.directory / "empty"
    empty.mkdir()
    subprocess.run(["cc", "-shared", "-x", "c", os.devnull, "-o", str(empty / NAME)], check=True)
    with CountingProcess({"LD_LIBRARY_PATH": str(empty)}) as process:
        assert process.sentence("Function Not Found")[0] == [ABSENT]


def pretend(directory: Path, text: str) -> dict[str, str]:
    """Write a module ``pynvml``, and return the environment in which it is the one."""
    (directory / "modules").mkdir()
    (directory / "modules" / "pynvml.py").write_text(text)
    return {"PYTHONPATH": str(directory / "modules")}


def test_another_package_of_that_name_is_said_to_be_another(driver):
    with CountingProcess(
        driver.environment | pretend(driver.directory, "answer = 42\n")
    ) as process:
        _, absences = process.sentence("is not NVIDIA's: run `pip install nvidia-ml-py`")
    assert str(driver.directory) in absences[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raise ModuleNotFoundError(name='pynvml')\n", "need the package nvidia-ml-py"),
        ("print 'for Python 2'\n", "cannot be imported: SyntaxError"),
    ],
)
def test_a_package_that_is_not_there_or_does_not_fit_is_said(driver, text, words):
    with CountingProcess(driver.environment | pretend(driver.directory, text)) as process:
        process.sentence(words)


# What the package `pynvml` was before it handed on to nvidia-ml-py: the same calls, older.
OLD_PACKAGE = f"""
exec(compile(open({pynvml.__file__!r}).read(), "pynvml.py", "exec"))
del nvmlMemory_v2, c_nvmlMemory_v2_t
_ask_memory = nvmlDeviceGetMemoryInfo
def nvmlDeviceGetMemoryInfo(handle):
    return _ask_memory(handle)
"""


def test_an_old_package_asks_as_it_can(driver):
    with CountingProcess(driver.environment | pretend(driver.directory, OLD_PACKAGE)) as process:
        process.values(3 * GIB + 1 + 600 * MIB, 97, 600 * MIB, 0)


def test_a_driver_that_never_answers_holds_up_nothing(driver):
    with CountingProcess(driver.environment) as process:
        process.values(3 * GIB + 1, 97, 0, 0)
        driver.answer(hang=1)
        values, absences = process.sentence("has not answered for more than two seconds")
        assert (values, len(set(absences))) == ([ABSENT] * 4, 1)
        values, absences = process.tell("sample")
        assert values[:4] == [ABSENT] * 4
        assert values[4] > 0, "the process's own memory"

        # More charts start no more threads.
        for _ in range(2):
            process.tell("renew")
            process.sentence("has not answered")
        assert process.tell("threads").count(THREAD) == 1

        driver.answer(hang=0)
        process.values(3 * GIB + 1, 97, 0, 0)
        assert process.tell("threads").count(THREAD) == 1


def test_a_driver_that_hangs_from_the_beginning_says_so(driver):
    driver.answer(hang=1)
    with CountingProcess(driver.environment) as process:
        assert process.tell("read") == [[], []], "nothing is known yet"
        assert process.sentence("has not answered")[0] == [ABSENT]
        driver.answer(hang=0)
        assert process.values(3 * GIB + 1, 97, 0, 0) == ["", "", "", ""]


def test_charts_that_come_and_go_leave_nothing(driver):
    with CountingProcess(driver.environment) as process:
        for _ in range(20):
            process.values(3 * GIB + 1, 97, 0, 0)
            process.tell("renew")
        began, ended, _ = process.tell("calls")
        assert (began, ended) == (20, 20)
        assert THREAD not in process.tell("threads")

        # The same one, closed and read again.
        process.values(3 * GIB + 1, 97, 0, 0)
        process.tell("close")
        assert process.tell("threads") == ["MainThread"]
        driver.device(0, used_bytes=GIB, percent=0)
        process.values(GIB, 0, 0, 0)


def test_the_thread_ends_with_the_sampler(driver):
    with CountingProcess(driver.environment) as process:
        for _ in range(3):
            process.tell("sample")
            assert process.tell("threads") == ["MainThread"]
            began, ended, _ = process.tell("calls")
            assert began == ended


def test_a_forked_child_asks_for_itself_and_the_parent_goes_on(driver):
    with CountingProcess(driver.environment) as process:
        process.values(3 * GIB + 1, 97, 0, 0)
        assert process.tell("fork") == [3 * GIB + 1, 97, 0, 0]
        driver.device(0, used_bytes=GIB, percent=0)
        process.values(GIB, 0, 0, 0)


def test_this_machine_counts_or_says_why_not():
    with CountingProcess({}) as process:
        process.until(lambda values, absences: max(values, default=ABSENT) >= 0 or any(absences))
