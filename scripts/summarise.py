"""Adds up test results, given as JUNIT.xml=EXIT_CODE per runner. The last line counts; non-zero if all is not well."""

import pathlib
import re
import sys
import xml.etree.ElementTree

passed, failed, skipped, trouble = 0, [], [], []

for argument in sys.argv[1:]:
    path, _, status = argument.rpartition("=")
    runner = pathlib.Path(path).stem
    before = len(failed)
    try:
        cases = list(xml.etree.ElementTree.parse(path).iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        trouble.append(f"{runner}: no results: {error}")
        continue
    for case in cases:
        # ctest repeats the name as the class, pytest has the file there.
        name = ".".join(dict.fromkeys(filter(None, (case.get("classname"), case.get("name")))))
        reason = next((child for child in case if child.tag == "skipped"), None)
        if any(child.tag in ("failure", "error") for child in case) or case.get("status") == "fail":
            failed.append(f"{runner}: {name}")  # the same tests run in two builds
        elif reason is not None or case.get("status") in ("notrun", "disabled"):
            # GoogleTest prints the reason on the line after "FILE:LINE: Skipped", ctest keeps that as output.
            said = re.search(r": Skipped\n([^\[\n]+)", case.findtext("system-out") or "")
            message = reason.get("message") if reason is not None else "not run"
            skipped.append((name, said.group(1).strip() if said else message))
        else:
            # A GoogleTest program that is one case of ctest says how many tests it ran.
            said = re.search(r"\[  PASSED  \] (\d+) tests?\.", case.findtext("system-out") or "")
            passed += int(said.group(1)) if said else 1
    # 0: all well; ctest 8 and pytest 1: a test failed, which the file says, too. Anything else is a broken runner.
    if status != "0" and len(failed) == before:
        trouble.append(f"{runner}: exit code {status} although no test failed")

print()
for name, reason in skipped:
    print(f"skipped: {name}: {reason}")
for line in trouble:
    print(f"failed:  {line}")
for name in failed:
    print(f"failed:  {name}")
failures = len(failed) + len(trouble)
print(f"{passed} passed, {failures} failed" + (f", {len(skipped)} skipped" if skipped else ""))
sys.exit(1 if failures or passed == 0 else 0)
