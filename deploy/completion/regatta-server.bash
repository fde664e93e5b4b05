# Completion for bash. `make install` installs it for bash-completion; to load it by hand:
#     . deploy/completion/regatta-server.bash

_regatta_server() {
    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} words=''
    # readline splits --design=select into three words.
    if [[ $word == = ]]; then
        word=''
    elif [[ $option == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $option in
        -d | --design) words=$("${COMP_WORDS[0]}" --list-designs 2>/dev/null | cut -d ' ' -f 1) ;;
        -l | --listen) words='127.0.0.1 0.0.0.0' ;;
        -w | --work) words='scan classic snapshot wait=5ms spin=50us scan+spin=50us classic+spin=50us' ;;
        --source) words='auto procfs bpf' ;;
        --sandbox) words='on off require' ;;
        --user) words=$(compgen -u) ;;
        --summary | --token-file)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        --max-age | --backlog | --max-connections | --max-output | --allow | --host | --idle-timeout | --workers | --cpus | --ready-fd)
            COMPREPLY=() # a number or a list: nothing to offer
            return
            ;;
        *)
            words='--design --listen --work --max-age --source --no-recorder --backlog
                --defer-accept --max-connections --max-output --allow --host --token-file --no-token
                --idle-timeout --workers --cpus --user --sandbox --ready-fd --summary --verbose
                --quiet --list-designs --list-sandbox --json --version --help'
            ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _regatta_server regatta-server
