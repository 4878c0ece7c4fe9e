#!/bin/bash
# A night on a cluster: `sbatch ci/slurm.sh`, or from scrontab: `0 3 * * * $HOME/kftune/ci/slurm.sh`. The job fails when something
# became slower; nightly.json beside this file is a suite of one's own. The whole node, so that nobody else is measured.
#SBATCH --job-name=kftune-nightly
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --gres=gpu:1
#SBATCH --time=01:00:00
#SBATCH --output=kftune-nightly-%j.txt
set -eu
status=0
report=$HOME/night.md
rm -f "$report"
srun --ntasks=1 /usr/local/bin/kftune nightly --suite "$HOME/solver/nightly.json" --store "$HOME/nightly.db" --report "$report" --quiet >/dev/null || status=$?
[ "$status" -eq 0 ] || [ ! -e "$report" ] || cat "$report"
exit "$status"
