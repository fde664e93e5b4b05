# Completion for bash. `make install` installs it for bash-completion; to load it by hand:
#     . deploy/completion/regatta.bash

declare -gA _regatta_known

# The commands or options that --help lists first in its rows; asked once a shell for each command.
_regatta_words() {
    local key=" $*"
    if [[ -z ${_regatta_known[$key]} ]]; then
        _regatta_known[$key]=$(COLUMNS=200 NO_COLOR=1 LC_ALL=C.UTF-8 "${COMP_WORDS[0]}" "$@" --help 2>/dev/null |
            sed -nE 's/^│ \*? *((,? *-{0,2}[a-z][a-z0-9-]*)+)  .*/\1/p' | grep -oE '(--)?[a-z][a-z0-9-]+')
    fi
    words=${_regatta_known[$key]}
}

_regatta() {
    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words=''
    if ((COMP_CWORD == 1)); then
        _regatta_words
    elif [[ $word == -* ]]; then
        _regatta_words "$verb"
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    fi
    [[ $word == -* ]] || words=$(grep -v '^-' <<<"$words")
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _regatta regatta
