#!/bin/bash
# Tests completion in the shells themselves. Each reads the output of `kftune completion` and is asked for words.
# KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into. Missing shells are skipped with a message.
set -u
kftune=$(realpath "${KFTUNE:?KFTUNE must name the program}")
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
failures=0 tried=0
PATH=$(dirname "$kftune"):$PATH
export ZDOTDIR=$scratch HOME=$scratch XDG_CONFIG_HOME=$scratch

# offers SHELL LINE WORD: the shell completes the line with this word, among others.
offers() {
    if ! "complete_$1" "$2" | grep -qxF -- "$3"; then
        echo "completion.sh: $1: '$2<tab>' does not offer '$3'; it offers: $("complete_$1" "$2" | head -n 5 | tr '\n' ' ')"
        failures=$((failures + 1))
    fi
}

complete_bash() { # LINE
    # shellcheck disable=SC2016
    bash --norc -c 'source "$1"; read -ra COMP_WORDS <<<"$2"; [[ $2 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kftune; printf "%s\n" "${COMPREPLY[@]}"' - "$scratch/kftune.bash" "$1" 2>/dev/null
}
complete_fish() { fish --no-config -c "source '$scratch/kftune.fish'; complete -C '$1'" | cut -f 1; }
# Starts zsh on a terminal of its own. It types a single match in full, so every word is requested as a list.
complete_zsh() {
    cat >"$scratch/ask.zsh" <<'ZSH'
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell "PS1=; unsetopt zle_bracketed_paste 2>/dev/null; fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u"
zpty -w shell "zstyle ':completion:*' list-prompt ''; LISTMAX=0; COLUMNS=400; setopt no_beep"
zpty -w shell "compadd() { local -a found; builtin compadd -O found \"\$@\"; print -rl -- \$found >>$1/offered; builtin compadd \"\$@\" }"
zpty -w shell "print READY"
while zpty -r shell line; do [[ $line == READY* ]] && break; done
zpty -n -w shell "$2"$'\t'
sleep 1.5
zpty -d shell
ZSH
    : >"$scratch/offered"
    timeout 120 zsh -f "$scratch/ask.zsh" "$scratch" "$1" >/dev/null 2>&1
    cat "$scratch/offered"
}

for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null; then
        echo "completion.sh: $shell is not here: skipped"
        continue
    fi
    tried=$((tried + 1))
    case $shell in zsh) file=_kftune ;; *) file=kftune.$shell ;; esac
    "$kftune" completion $shell >"$scratch/$file" || failures=$((failures + 1))
    $shell -n "$scratch/$file" || failures=$((failures + 1))
    offers $shell "kftune tu" tune
    offers $shell "kftune tune --ob" --objective
    offers $shell "kftune tune --objective e" energy
    offers $shell "kftune tune --scene ah" ahmed
    offers $shell "kftune plot roo" roofline
    offers $shell "kftune --sce" --scene
    # Names of each kind are offered where they are meant. The other shells ask in the same way, and slower.
    [ $shell = bash ] || continue
    while read -r kind option command; do
        for name in $("$kftune" list $kind | awk 'NF > 1 { print $1 }' | head -n 3); do offers bash "kftune $command $option ${name:0:2}" "$name"; done
    done <<'KINDS'
scenes --scene tune
systems --system tune
strategies --strategy replay
metrics --counters tune
KINDS
done
[ "$failures" -eq 0 ] && echo "completion.sh: tried in $tried shells"
[ "$failures" -eq 0 ]
