#!/bin/bash
# A night on a cluster: `sbatch ci/slurm.sh`, or from scrontab: `0 3 * * * $HOME/kftune/ci/slurm.sh`. The job fails when something
# became slower. The whole node, so that nobody else is measured.
#SBATCH --job-name=kftune-nightly
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --gres=gpu:1
#SBATCH --time=01:00:00
#SBATCH --output=kftune-nightly-%j.txt
set -eu
status=0
srun --ntasks=1 /usr/local/bin/kftune nightly --suite gpu --store "$HOME/nightly.db" --report "$HOME/night.md" --quiet >/dev/null || status=$?
[ "$status" -eq 0 ] || cat "$HOME/night.md"
exit "$status"
