// Nim with three heaps: a move takes stones from one heap. The player who takes the last stone wins.
//
//     driver solve nim --rules-program 'java Nim.java'

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.util.StringJoiner;

class Nim {
    private static final int[] heaps = {3, 4, 5}; // the parameters a, b and c

    public static void main(String[] args) throws IOException {
        for (String arg : args) { // NAME=VALUE
            heaps[arg.charAt(0) - 'a'] = Integer.parseInt(arg.substring(2));
        }
        var in = new BufferedReader(new InputStreamReader(System.in));
        var out = new PrintWriter(System.out);
        out.print("treereduce rules 1\nname nim\n");
        for (int i = 0; i < 3; i++) {
            out.printf("parameter %c %d\n", 'a' + i, heaps[i]);
        }
        out.printf("rules Take stones from one of three heaps. The player who takes the last stone wins.\n");
        out.printf("bits 24\nstart %d\n\n", heaps[0] | heaps[1] << 8 | heaps[2] << 16); // a byte for each heap
        out.flush();
        for (String line; (line = in.readLine()) != null; ) {
            out.print(line.isEmpty() ? "\n" : answer(Integer.parseInt(line)) + "\n");
            if (line.isEmpty()) {
                out.flush();
            }
        }
        out.flush();
    }

    // Returns the moves of a position, such as a1 to take one stone from heap a, or its value.
    private static String answer(int position) {
        if (position == 0) {
            return "lose"; // the other player has taken the last stone
        }
        var moves = new StringJoiner(" ");
        for (int i = 0; i < 3; i++) {
            int stones = position >> 8 * i & 255;
            for (int n = 1; n <= stones; n++) {
                moves.add((char) ('a' + i) + "" + n + ":" + (position - (n << 8 * i)));
            }
        }
        return moves.toString();
    }
}
