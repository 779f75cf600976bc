# Prints the sentences of a page of the manual that have more than 30 words. A sentence starts on
# a new line and ends at the end of a line, or where a paragraph or an item of a list ends.
function finish() {
    if (words > 30)
        print FILENAME ":" FNR ": " words " words: " sentence
    words = 0
    sentence = ""
}
/^\.\\"/ || /^'/ { next }
/^\.(EX|nf|TS)/ { is_exact = 1 }
/^\.(EE|fi|TE)/ { is_exact = 0 }
is_exact { next }
/^@/ || is_tag { is_tag = 0; finish(); next }
/^\.TP/ { is_tag = 1 }
/^\.(SH|SS|TP|TQ|PP|IP|RS|RE|EX|EE|nf|fi|TS|TE|PD|TH)/ { finish(); next }
{
    gsub(/^\.[A-Z]+ /, "")
    for (i = 1; i <= NF; i++)
        words += $i ~ /[[:alnum:]]/
    sentence = sentence " " $0
}
/[.:]\)?$/ { finish() }
END { finish() }
