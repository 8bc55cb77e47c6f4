"""What a command that runs another one does when it is told to stop."""

import os
import signal
import subprocess
import time


def stop(command, directory):
    """Runs `command` on a program that would go on for long, and sends SIGTERM: the exit code, and what is left in
    `directory`, where its temporary files are and the program leaves `pid`."""
    line = [*command, "--", "sh", "-c", f"echo $$ > {directory}/pid; exec sleep 60"]
    environment = {**os.environ, "TMPDIR": str(directory)}
    running = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    while not (directory / "pid").exists() or not (directory / "pid").read_text():
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    return running.wait(timeout=20), os.listdir(directory)
