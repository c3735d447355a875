// Network.java lets a MachinePlayer of CS 61B play: it makes a program of your package player. Save it beside the
// directory player, compile the package, and let it play; a number after Network.java is a search depth:
//
//     javac player/*.java
//     MATCH 'program:java Network.java' random

import java.io.*;
import java.util.*;
import player.MachinePlayer;
import player.Move;

class Network extends Engine {
    private static String[] depth;
    private MachinePlayer machine; // null: none for this game yet
    private String color;          // that it plays: the side
    private int made;              // the number of moves on its board

    public static void main(String[] args) throws IOException {
        depth = args;
        new Network().run();
    }

    @Override
    void begin() {
        machine = null;
    }

    @Override
    String choose(List<String> moves) {
        if (machine == null || !side.equals(color)) {
            int number = side.equals("first") ? 1 : 0; // White has the first move
            machine = depth.length == 0 ? new MachinePlayer(number) : new MachinePlayer(number, Integer.parseInt(depth[0]));
            color = side;
            made = 0;
        }
        for (; made < played.size(); made++) {
            boolean own = made % 2 == (side.equals("first") ? 0 : 1);
            Move move = parse(played.get(made));
            if (!(own ? machine.forceMove(move) : machine.opponentMove(move))) {
                return refuse((own ? "forceMove" : "opponentMove") + " returned false for " + move + ", which the rules allow");
            }
        }
        Move move = machine.chooseMove();
        made++;
        return move.moveKind == Move.QUIT ? "resign" : name(move);
    }

    /** Reads 34 as an add to 34, and 24-34 as a step from 24 to 34. */
    private static Move parse(String name) {
        int[] at = name.replace("-", "").chars().map(c -> c - '0').toArray();
        return at.length == 2 ? new Move(at[0], at[1]) : new Move(at[2], at[3], at[0], at[1]);
    }

    private static String name(Move move) {
        String to = "" + move.x1 + move.y1;
        return move.moveKind == Move.ADD ? to : "" + move.x2 + move.y2 + "-" + to;
    }

    /** Errors name a line of the package player. */
    @Override
    boolean mine(StackTraceElement frame) {
        return frame.getClassName().startsWith("player.");
    }
}
