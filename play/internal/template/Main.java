// A player of GAME. Fill in choose, save this file as Main.java, and let it play:
//
//     MATCH 'program:java Main.java' random

import java.io.*;
import java.util.*;

class Main extends Engine {
    /**
     * Returns one of the legal moves, such as EXAMPLE. side is "first" or "second", the side to
     * play; played are the moves of both sides so far, the first side's first; parameters are
     * PARAMETERS; secondsLeft() is the time for this move. System.out writes to stderr,
     * which the option --logs DIR of a match keeps in a file.
     */
    @Override
    String choose(List<String> moves) {
        return moves.get(moves.size() / 2);
    }

    public static void main(String[] args) throws IOException {
        new Main().run();
    }
}

/** The base class: it answers the commands of docs/play/engines.md. */
abstract class Engine {
    String game = "", side = "";
    Map<String, String> parameters = new HashMap<>();
    List<String> played = new ArrayList<>();

    private static final String COMMANDS =
        "protocol_version name version known_command list_commands game clear_board play time_left legal_moves genmove quit";
    private List<String> legal = List.of();
    private double deadline = Double.POSITIVE_INFINITY;

    abstract String choose(List<String> moves) throws Exception;

    /** Prepares for a new game. */
    void begin() throws Exception {}

    double secondsLeft() {
        return deadline - System.nanoTime() / 1e9;
    }

    /** Answers commands until quit or the end of the input. */
    void run() throws IOException {
        PrintStream out = System.out;
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            LinkedList<String> words = new LinkedList<>(List.of(line.replaceAll("#.*", "").trim().split("\\s+")));
            String number = words.peek().matches("\\d+") ? words.pop() : "", command = words.isEmpty() ? "" : words.pop();
            if (command.isEmpty()) {
                continue;
            }
            String mark = "=", text;
            try {
                text = answer(command, words);
            } catch (Throwable error) {
                error.printStackTrace();
                mark = "?";
                text = located(error);
            }
            out.print(mark + number + " " + text + "\n\n");
            out.flush();
            if (command.equals("quit")) {
                break;
            }
        }
    }

    private String answer(String command, List<String> args) throws Exception {
        switch (command) {
            case "protocol_version": return "2";
            case "name": return getClass().getSimpleName();
            case "known_command": return "" + List.of(COMMANDS.split(" ")).contains(args.get(0));
            case "list_commands": return COMMANDS.replace(' ', '\n');
            case "game":
                game = args.get(0);
                parameters.clear();
                for (String word : args.subList(1, args.size())) {
                    String[] pair = word.split("=", 2);
                    parameters.put(pair[0], pair[1]);
                }
            case "clear_board": // game clears it, too
                played.clear();
                deadline = Double.POSITIVE_INFINITY;
                begin();
                return "";
            case "play": played.add(args.get(1)); return "";
            case "time_left": deadline = System.nanoTime() / 1e9 + Double.parseDouble(args.get(1)); return "";
            case "legal_moves": legal = List.copyOf(args.subList(1, args.size())); return "";
            case "genmove": side = args.get(0); return genmove();
            case "version": case "quit": return "";
        }
        throw new IllegalArgumentException("unknown command " + command);
    }

    private String genmove() throws Exception {
        if (legal.isEmpty()) {
            throw new IllegalStateException("expected legal_moves before genmove");
        }
        String move = choose(new ArrayList<>(legal));
        if (!"resign".equals(move)) {
            if (!legal.contains(move)) {
                return refuse("illegal move: choose returned " + move + ", expected one of " + String.join(" ", legal));
            }
            played.add(move);
        }
        legal = List.of();
        deadline = Double.POSITIVE_INFINITY;
        return move;
    }

    static String refuse(String text) {
        throw new IllegalArgumentException(text);
    }

    /** Reports whether a line is one of the player. */
    boolean mine(StackTraceElement frame) {
        return frame.getClassName().equals(getClass().getName()) && !frame.getMethodName().equals("main");
    }

    /** Returns an error as a line, with the line of the player that has led to it. */
    private String located(Throwable error) {
        String text = ("" + error).replaceAll("\\s+", " ");
        for (StackTraceElement frame : error.getStackTrace()) {
            if (mine(frame)) {
                return frame.getClassName() + "." + frame.getMethodName() + ", " + frame.getFileName() + " line " + frame.getLineNumber() + ": " + text;
            }
        }
        return error instanceof IllegalArgumentException ? error.getMessage() : text;
    }
}
