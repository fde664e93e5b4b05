%% Serves each connection with a process; the runtime's own parser reads the request line and the headers.
%%
%% usage: erl -s server main HOST PORT
-module(server).
-export([main/1, accept/1, begin_serving/0]).

-define(ACCEPTORS, 16).
-define(WAIT_MS, 5).
-define(OPTIONS, [binary, {active, false}, {packet, http_bin}, {nodelay, true}, {reuseaddr, true}]).

main([Host, Port]) ->
    {ok, Address} = inet:parse_address(atom_to_list(Host)),
    Number = list_to_integer(atom_to_list(Port)),
    {ok, Listener} = gen_tcp:listen(Number, [{ip, Address}, {backlog, 4096} | ?OPTIONS]),
    [spawn_link(?MODULE, accept, [Listener]) || _ <- lists:seq(1, ?ACCEPTORS)],
    receive stop -> ok end.

accept(Listener) ->
    {ok, Socket} = gen_tcp:accept(Listener),
    Server = spawn(?MODULE, begin_serving, []),
    ok = gen_tcp:controlling_process(Socket, Server),
    Server ! {serve, Socket},
    accept(Listener).

begin_serving() ->
    receive {serve, Socket} -> serve(Socket) end.

%% Any error ends the connection; the others do not notice.
serve(Socket) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, {http_request, Method, {abs_path, Path}, Version}} ->
            Keep = headers(Socket, Version =:= {1, 1}),
            ok = gen_tcp:send(Socket, answer(Method, Path, Keep)),
            case Keep of
                true -> serve(Socket);
                false -> gen_tcp:close(Socket)
            end;
        _ -> gen_tcp:close(Socket)
    end.

%% Whether the connection stays open after the answer.
headers(Socket, Keep) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, {http_header, _, 'Connection', _, Value}} ->
            headers(Socket, string:lowercase(Value) =:= <<"keep-alive">>
                orelse (Keep andalso string:lowercase(Value) =/= <<"close">>));
        {ok, {http_header, _, _, _, _}} -> headers(Socket, Keep);
        {ok, http_eoh} -> Keep
    end.

answer(Method, Path, Keep) ->
    {Status, Type, Body} = page(Path),
    [<<"HTTP/1.1 ">>, Status, <<"\r\nContent-Type: ">>, Type,
     <<"\r\nContent-Length: ">>, integer_to_binary(byte_size(Body)),
     case Keep of true -> <<"\r\n\r\n">>; false -> <<"\r\nConnection: close\r\n\r\n">> end,
     case Method of 'HEAD' -> <<>>; _ -> Body end].

page(<<"/json">>) -> {<<"200 OK">>, <<"application/json">>, <<"{\"message\":\"Hello, World!\"}">>};
page(<<"/wait">>) -> timer:sleep(?WAIT_MS), page(<<"/">>);
page(Path) when Path =:= <<"/">>; Path =:= <<"/plaintext">> ->
    {<<"200 OK">>, <<"text/plain">>, <<"Hello, World!">>};
page(_) -> {<<"404 Not Found">>, <<"text/plain">>, <<"no such page">>}.
