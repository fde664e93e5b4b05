# Completion for bash. `make install` installs it for bash-completion; to load it by hand:
#     . deploy/completion/regatta-client.bash

_regatta_client() {
    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} words='' options
    # readline splits --load=open into three words.
    if [[ $word == = ]]; then
        word=''
    elif [[ $option == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    # --watch has other options, wherever it is on the line.
    if [[ " ${COMP_WORDS[*]:1} " == *' --watch '* ]]; then
        options='--watch --top --by --window --group --interval --count --timeout --token-file
            --json --help --version'
    else
        options='--watch --connections --top --dialect --request --until --requests --expect --events --path --body --host --token-file --timeout --load
            --rounds --duration --per-connection --rate --arrivals --seed --idle --slow
            --tls --cafile --insecure --resume --http2 --websocket --streams --grpc --engine
            --threads --sources --cpus --quiet --json --samples --gate-fd --help --version'
    fi
    case $option in
        --by) words='recent total' ;;
        --group) words='none name unit cgroup' ;;
        --dialect) words='line http' ;;
        --engine) words='epoll thread fork' ;;
        --load) words='burst closed open' ;;
        --arrivals) words='even poisson' ;;
        --path) words='/top /metrics /healthz' ;;
        --samples | --token-file | --requests | --body | --expect | --grpc | --cafile)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        -c | --connections | -n | --top | --timeout | --rounds | --duration | --per-connection | \
            --window | --interval | --count | --rate | --seed | --idle | --slow | --threads | --streams | --events | --sources | --cpus | --gate-fd | \
            --request | --until | --host)
            COMPREPLY=() # a number, a list, a text: nothing to offer
            return
            ;;
        *)
            if [[ $word == -* ]]; then
                words=$options
            else
                words=$(compgen -A hostname)
            fi
            ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _regatta_client regatta-client
