#!/bin/bash
#SBATCH --job-name=nb
#SBATCH --ntasks=8
#SBATCH --gpus-per-task=1
#SBATCH --output="/shared/nb.log"
QUERN_PARALLEL_SECRET=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export QUERN_PARALLEL_SECRET
exec srun --kill-on-bad-exit=1 --output=0 --error=all quern run /shared/nb.ipynb -o /shared/nb.executed.ipynb --param 'name="it'\''s"'
