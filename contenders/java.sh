# For the build scripts: `link_java VERSION` sets `home` to the newest JDK that is installed and makes ./java
# its launcher; one older than VERSION leaves the contender out.

link_java() {
    newest=0 home=
    for compiler in "${JAVA_HOME:-}/bin/javac" "$(command -v javac || true)" /usr/lib/jvm/*/bin/javac; do
        [ -x "$compiler" ] || continue
        release=$("$compiler" -version 2>&1)
        release=${release#javac } release=${release%%.*}
        if [ "$release" -gt "$newest" ]; then
            newest=$release
            compiler=$(readlink -f "$compiler")
            home=${compiler%/bin/javac}
        fi
    done
    [ "$newest" -ge "$1" ] ||
        leave_out "a JDK of Java $1 or newer is missing; run: apt-get install openjdk-$1-jdk-headless"
    ln -sfn "$home/bin/java" java
}
